// SPDX-License-Identifier: Apache-2.0
// waiting: keeps the device busy while the host waits.
#include "lib/generator.cl"
