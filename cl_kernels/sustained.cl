// SPDX-License-Identifier: Apache-2.0
// sustained: kernels that keep a device busy for seconds: multiply-adds, and a copy.

// Turns a point by a shear in x and one in y, two multiply-adds: it stays on an ellipse for any 0 <= s < 2, so that its
// bits change at every step and nothing overflows or converges.
#define TURN(x, y) \
  x += s * y;      \
  y -= s * x;

// Turns eight points per work-item `iterations` times. Work-item i begins with the values of item i % `period`, and
// writes point k to its column of row k, moved by `shift`, so that no output is zero where all points are.
__kernel void multiply_add(__global float2* restrict out, __global const float2* restrict points,
                           __global const float* restrict turns, const uint period, const uint iterations,
                           const float shift) {
  const size_t i = get_global_id(0), items = get_global_size(0);
  const uint from = (uint)i % period;
  const float s = turns[from];
  float2 p0 = points[from], p1 = points[period + from], p2 = points[2 * period + from], p3 = points[3 * period + from],
         p4 = points[4 * period + from], p5 = points[5 * period + from], p6 = points[6 * period + from],
         p7 = points[7 * period + from];
  for (uint k = 0; k < iterations; ++k) {
    TURN(p0.x, p0.y)
    TURN(p1.x, p1.y)
    TURN(p2.x, p2.y)
    TURN(p3.x, p3.y)
    TURN(p4.x, p4.y)
    TURN(p5.x, p5.y)
    TURN(p6.x, p6.y)
    TURN(p7.x, p7.y)
  }
  out[i] = p0 + shift;
  out[items + i] = p1 + shift;
  out[2 * items + i] = p2 + shift;
  out[3 * items + i] = p3 + shift;
  out[4 * items + i] = p4 + shift;
  out[5 * items + i] = p5 + shift;
  out[6 * items + i] = p6 + shift;
  out[7 * items + i] = p7 + shift;
}

__kernel void copy(__global uint4* restrict out, __global const uint4* restrict in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}
