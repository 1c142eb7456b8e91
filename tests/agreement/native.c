/* SPDX-License-Identifier: Apache-2.0
 * native: what the processor itself reaches, by plain C: multiply-adds, reads of the first cache, dependent steps.
 *
 *   gcc -O3 -march=native -mprefer-vector-width=512 -fno-strict-aliasing -pthread native.c -o native
 *   native THREADS NAME..     prints "NAME VALUE" each: Gop/s and GB/s of all threads, ns per step of one
 *
 * Medians of 25 passes of some 10 ms, as clweave tells medians. Vectors are those that OpenCL's types have: 512 bits,
 * but of 16-bit numbers 256; a multiply-add chain is a product, then a sum, as PoCL's mad is.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Keeps a compiler from knowing what a variable holds, and from leaving out what computes it. */
#define OPAQUE(x) __asm__ volatile("" : "+m"(x))
/* The same in registers, or steps of integers would be folded into one. */
#define EACH_STEP __asm__ volatile("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(g), "+v"(h))

#define VECTOR 64
#define CHAINS 8

/* Steps x = x * scale + shift of eight independent vectors; two operations an element and step. */
#define ARITHMETIC(name, type, bytes)                                           \
  typedef type V_##name __attribute__((vector_size(bytes), aligned(bytes)));    \
  static double name(long steps) {                                              \
    V_##name x[CHAINS], scale, shift;                                           \
    for (int k = 0; k < CHAINS; ++k)                                            \
      for (unsigned i = 0; i < bytes / sizeof(type); ++i) x[k][i] = (type)(i + (unsigned)k); \
    for (unsigned i = 0; i < bytes / sizeof(type); ++i) scale[i] = 1, shift[i] = 1; \
    OPAQUE(scale);                                                              \
    OPAQUE(shift);                                                              \
    const V_##name s = scale, t = shift;                                        \
    V_##name a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7]; \
    for (long i = 0; i < steps; ++i) {                                          \
      a = a * s + t, b = b * s + t, c = c * s + t, d = d * s + t;               \
      e = e * s + t, f = f * s + t, g = g * s + t, h = h * s + t;               \
      EACH_STEP;                                                                \
    }                                                                           \
    a = a + b + c + d + e + f + g + h;                                          \
    OPAQUE(a);                                                                  \
    return 2.0 * CHAINS * (bytes / sizeof(type)) * (double)steps;               \
  }
ARITHMETIC(float_, float, VECTOR)
ARITHMETIC(double_, double, VECTOR)
ARITHMETIC(int_, uint32_t, VECTOR)
ARITHMETIC(long_, uint64_t, VECTOR)
ARITHMETIC(int16, uint16_t, VECTOR / 2)

/* As OpenCL's mad24 of operands cut to 24 bits. */
static double int24(long steps) {
  V_int_ x[CHAINS], scale, shift, cut;
  for (int k = 0; k < CHAINS; ++k)
    for (unsigned i = 0; i < VECTOR / 4; ++i) x[k][i] = i + (unsigned)k;
  for (unsigned i = 0; i < VECTOR / 4; ++i) scale[i] = 1, shift[i] = 1, cut[i] = 0xFFFFFF;
  OPAQUE(scale);
  OPAQUE(shift);
  const V_int_ s = scale & cut, t = shift, m = cut;
  V_int_ a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];
  for (long i = 0; i < steps; ++i) {
    a = (a & m) * s + t, b = (b & m) * s + t, c = (c & m) * s + t, d = (d & m) * s + t;
    e = (e & m) * s + t, f = (f & m) * s + t, g = (g & m) * s + t, h = (h & m) * s + t;
    EACH_STEP;
  }
  a = a + b + c + d + e + f + g + h;
  OPAQUE(a);
  return 2.0 * CHAINS * (VECTOR / 4) * (double)steps;
}

/* Reads 4 KiB again and again; bytes. */
static double l1_read(long steps) {
  static _Thread_local V_int_ words[64];
  for (int i = 0; i < 64; ++i) words[i] = (V_int_){(uint32_t)i};
  V_int_ a = {0}, b = a, c = a, d = a;
  for (long i = 0; i < steps; ++i) {
    const V_int_* w = words;
    __asm__ volatile("" : "+r"(w) : : "memory");
    for (int k = 0; k < 64; k += 4) a += w[k], b += w[k + 1], c += w[k + 2], d += w[k + 3];
  }
  a = a + b + c + d;
  OPAQUE(a);
  return 4096.0 * (double)steps;
}

/* ---- dependent steps ---- */

static double mad_chain(long steps) {
  float x = 1, scale = 1, shift = 1;
  OPAQUE(scale);
  OPAQUE(shift);
  const float s = scale, t = shift;
  for (long i = 0; i < steps; ++i) {
    x *= s;
    __asm__ volatile("" : "+x"(x));
    x += t;
  }
  OPAQUE(x);
  return (double)steps;
}

static double atomic_chain(long steps) {
  static uint32_t counter;
  uint32_t old = 1;
  for (long i = 0; i < steps; ++i) old = __atomic_fetch_add(&counter, (old & 3) + 1, __ATOMIC_RELAXED);
  OPAQUE(old);
  return (double)steps;
}

/* Loads of addresses, a node every `apart` bytes, in one random cycle. */
static double chase(long steps, size_t bytes, size_t apart) {
  static char* memory;
  static size_t made;
  static void** at;
  if (made != bytes) {
    free(memory);
    const size_t nodes = bytes / apart;
    memory = aligned_alloc(4096, bytes);
    size_t* order = malloc(nodes * sizeof *order);
    for (size_t i = 0; i < nodes; ++i) order[i] = i;
    uint64_t random = 88172645463325252u;
    for (size_t i = nodes - 1; i > 0; --i) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      const size_t j = random % (i + 1), other = order[i];
      order[i] = order[j];
      order[j] = other;
    }
    for (size_t i = 0; i < nodes; ++i)
      *(void**)(memory + order[i] * apart) = memory + order[(i + 1) % nodes] * apart;
    free(order);
    made = bytes;
    at = (void**)(memory);
  }
  void** p = at;
  for (long i = 0; i < steps; i += 8) {
    p = *p, p = *p, p = *p, p = *p;
    p = *p, p = *p, p = *p, p = *p;
  }
  OPAQUE(p);
  at = p;
  return (double)steps;
}
static double chase_l1(long steps) { return chase(steps, 16384, 64); }
static double chase_memory(long steps) { return chase(steps, (size_t)256 << 20, 128); }

static const struct {
  const char* name;
  double (*run)(long steps);
  int is_rate;
} all[] = {{"float", float_, 1},        {"double", double_, 1},       {"int", int_, 1},
           {"long", long_, 1},          {"int16", int16, 1},          {"int24", int24, 1},
           {"l1_read", l1_read, 1},     {"mad_chain", mad_chain, 0},  {"atomic_chain", atomic_chain, 0},
           {"chase_l1", chase_l1, 0},   {"chase_memory", chase_memory, 0}};

static int threads;
static long steps_of_all;
static double (*run_of_all)(long);
static pthread_barrier_t barrier;
static struct {
  double begin, end;
} *spans; /* of each thread: the main one may be late for both */

static void* work(void* core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)core, &set);
  sched_setaffinity(0, sizeof set, &set);
  for (;;) {
    pthread_barrier_wait(&barrier);
    if (run_of_all == NULL) return NULL;
    spans[(size_t)core].begin = now();
    run_of_all(steps_of_all);
    spans[(size_t)core].end = now();
    pthread_barrier_wait(&barrier);
  }
}

/* The seconds of `steps` by all threads. */
static double timed_on_all(double (*run)(long), long steps) {
  run_of_all = run;
  steps_of_all = steps;
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  double begin = spans[0].begin, end = spans[0].end;
  for (int i = 1; i < threads; ++i) {
    if (spans[i].begin < begin) begin = spans[i].begin;
    if (spans[i].end > end) end = spans[i].end;
  }
  return end - begin;
}

static double timed(double (*run)(long), long steps) {
  const double begin = now();
  run(steps);
  return now() - begin;
}

static int ascending(const void* a, const void* b) {
  return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

int main(int argc, char** argv) {
  enum { passes = 25 };
  if (argc < 3) return 2;
  threads = atoi(argv[1]);
  pthread_t* started = malloc((size_t)threads * sizeof *started);
  spans = malloc((size_t)threads * sizeof *spans);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; ++i) pthread_create(&started[i], NULL, work, (void*)(size_t)i);
  for (int arg = 2; arg < argc; ++arg) {
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
      if (strcmp(all[i].name, argv[arg]) != 0) continue;
      double (*const time)(double (*)(long), long) = all[i].is_rate ? timed_on_all : timed;
      long steps = 1024;
      while (time(all[i].run, steps) < 0.01) steps *= 2;
      double seconds[passes];
      for (int pass = 0; pass < passes; ++pass) seconds[pass] = time(all[i].run, steps);
      qsort(seconds, passes, sizeof *seconds, ascending);
      const double median = seconds[passes / 2];
      const double done = all[i].run(steps);
      printf("%s %.6g\n", all[i].name, all[i].is_rate ? 1e-9 * done * threads / median : 1e9 * median / done);
    }
  }
  run_of_all = NULL;
  pthread_barrier_wait(&barrier);
  return 0;
}
