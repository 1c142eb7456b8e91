// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast and how exactly are European options valued, by erfc and by a polynomial?"
valid = "mod(n, width) == 0"

[axes]
n = { values = [4194304, 1048576], from = 4, to = 268435456, meaning = "options" }
kernel = { values = ["erfc", "polynomial"], meaning = "the normal distribution by erfc, or by a polynomial" }
width = { values = [1, 2, 4], meaning = "options of a vector" }
group = { values = [128, 64, 256, 512], tunable = true, meaning = "work-items per work-group" }

[buffers.price]
type = "float"
count = "n"
contents = { random = [90, 110] }

[buffers.strike]
type = "float"
count = "n"
contents = { random = [95, 105] }

[buffers.years]
type = "float"
count = "n"
contents = { random = [1, 2] }

[buffers.call]
type = "float"
count = "n"

[buffers.put]
type = "float"
count = "n"

[defines]
WIDTH = "width"
POLYNOMIAL = "kernel == 'polynomial' ? 1 : 0"

[[launches]]
kernel = "value"
global = "round_up(n / width, group)"
local = "group"
args = [
  "call", "put", "price", "strike", "years",
  { float = 0.03125 }, { float = 0.25 }, { uint = "n / width" },  # rate and volatility
]

[cost]
read = "12 * n"
written = "8 * n"
items = "n"
bound = "memory"

# A value is the difference of two of up to 14 times its size, each of an erfc that OpenCL allows 16 ULP of
# error. The row's value is the largest error in ULP.
[[checks]]
buffer = "call"
ulp = 256
expression = """
  price[i] / 2 * erfc(-(log(price[i] / strike[i]) + years[i] / 16) / (0.25 * sqrt(2 * years[i])))
  - strike[i] / 2 * exp(-years[i] / 32) * erfc(-log(price[i] / strike[i]) / (0.25 * sqrt(2 * years[i])))"""

[[checks]]
buffer = "put"
ulp = 256
expression = """
  strike[i] / 2 * exp(-years[i] / 32) * erfc(log(price[i] / strike[i]) / (0.25 * sqrt(2 * years[i])))
  - price[i] / 2 * erfc((log(price[i] / strike[i]) + years[i] / 16) / (0.25 * sqrt(2 * years[i])))"""

[presets]
smoke = "n=1000 kernel=erfc,polynomial width=1,4 group=64"
quick = "n=1048576 kernel=erfc,polynomial width=1,2,4"
tune = "kernel=erfc,polynomial width=1,2,4"

[view]
rows = ["kernel"]
columns = ["width"]
quantity = "items"

[[findings]]
name = "polynomial_speedup"
kind = "ratio"
quantity = "rate"
of = "kernel=polynomial width=1"
to = "kernel=erfc width=1"
meaning = "speed of the polynomial over erfc"
*/

// By Black and Scholes, The pricing of options and corporate liabilities (1973).
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#if WIDTH == 1
typedef float V;
#else
typedef JOIN(float, WIDTH) V;
#endif

// The standard normal distribution function; the polynomial is 26.2.17 of Abramowitz and Stegun, Handbook
// of Mathematical Functions (1964), within 7.5e-8.
V normal(const V d) {
#if POLYNOMIAL
  const V t = 1 / (1 + 0.2316419f * fabs(d));
  const V series =
      t * (0.31938153f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
  const V tail = 0.39894228f * exp(-0.5f * d * d) * series;
  return select(tail, 1 - tail, d > 0);
#else
  return 0.5f * erfc(-d * 0.70710678f);
#endif
}

__kernel void value(__global V* restrict call, __global V* restrict put, __global const V* restrict price,
                    __global const V* restrict strike, __global const V* restrict years, const float rate,
                    const float volatility, const uint vectors) {
  const uint i = get_global_id(0);
  if (i >= vectors) return;
  const V s = price[i], x = strike[i], t = years[i], spread = volatility * sqrt(t);
  const V d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread, d2 = d1 - spread;
  const V discounted = x * exp(-rate * t);
  call[i] = s * normal(d1) - discounted * normal(d2);
  put[i] = discounted * normal(-d2) - s * normal(-d1);
}
