// SPDX-License-Identifier: Apache-2.0
// blur: the kernel of blur.json, as tuners write it: its parameters are macros of their names.
#define plain 1
#define doubled 2

__kernel void blur(__global float* result, __global const float* image, float factor, __local float* row) {
  for (int k = 0; k < TILE; ++k) {
    const size_t i = get_group_id(0) * block_size_x * TILE + k * block_size_x + get_local_id(0);
    row[get_local_id(0)] = image[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float mine = row[get_local_id(0)];
    result[i] = factor * (form == doubled ? 0.5f * (mine + mine) : mine);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
