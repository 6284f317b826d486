#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One TCP connection: traffic.py receive PORT BYTES | traffic.py send HOST PORT BYTES

The receiver prints a line when it listens, and at the end the bit/s of the payload between its first and last byte.
"""
import socket
import sys
import time

BLOCK = bytes(1 << 16)


def receive(port, size):
    with socket.create_server(("", port)) as server:
        print("listening", flush=True)
        connection, _ = server.accept()
        buffer = bytearray(1 << 20)
        got = first = connection.recv_into(buffer)
        begin = time.monotonic()
        while got < size:
            part = connection.recv_into(buffer)
            if part == 0:
                sys.exit(f"got {got} of {size} bytes")
            got += part
        end = time.monotonic()
    print(8 * (got - first) / (end - begin))


def send(host, port, size):
    with socket.create_connection((host, port)) as connection:
        while size > 0:
            size -= connection.send(BLOCK[:size])
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[0] == "receive":
        receive(int(words[1]), int(words[2]))
    else:
        send(words[1], int(words[2]), int(words[3]))
