# SPDX-License-Identifier: Apache-2.0
"""Hosts as network namespaces of one machine, joined by leaf and spine switches with shaped links."""
