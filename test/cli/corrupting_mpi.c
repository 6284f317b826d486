// SPDX-License-Identifier: Apache-2.0
// Preloaded into a rank, it spoils what an all-reduce delivers: byte 6 of rank 1's result has one bit flipped.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void spoil(void* received, int count) {
  const char* const rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank && strcmp(rank, "1") == 0 && count > 3) ((unsigned char*)received)[6] ^= 0x10;
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  const int code = PMPI_Allreduce(send, receive, count, type, op, communicator);
  spoil(receive, count);
  return code;
}
