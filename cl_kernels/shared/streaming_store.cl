// SPDX-License-Identifier: Apache-2.0
// streaming_store: STORE_STREAMING(value, pointer) stores past the caches.
//
// A cache that is to hold a line must read it first, though all of it is overwritten: a third of a copy's
// traffic. Where a compiler has no such stores, only a kernel with PLAIN_WILL_DO is built, and stores as ever.
#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__)

// Of clang's word for it nothing is left in PTX. Nobody who calls this reads what was stored.
void store_streaming(__global void* to, const uint* words, const uint bytes) {
  uint at = 0;
#pragma unroll
  for (; at + 4 <= bytes / 4; at += 4)
    __asm__ volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"((__global uint*)to + at), "r"(words[at]), "r"(words[at + 1]), "r"(words[at + 2]),
                   "r"(words[at + 3]));
  if (bytes % 16 == 8)
    __asm__ volatile("st.global.cs.v2.u32 [%0], {%1, %2};" : : "l"(to), "r"(words[0]), "r"(words[1]));
  if (bytes == 4) __asm__ volatile("st.global.cs.u32 [%0], %1;" : : "l"(to), "r"(words[0]));
  if (bytes == 2) __asm__ volatile("st.global.cs.u16 [%0], %1;" : : "l"(to), "h"((ushort)words[0]));
  if (bytes == 1) __asm__ volatile("st.global.cs.u8 [%0], %1;" : : "l"(to), "h"((ushort)words[0]));
}
// Behind a comma, a type is without its address space.
#define STORE_STREAMING(value, pointer)                    \
  do {                                                     \
    union {                                                \
      __typeof__(((void)0, (value))) stored;               \
      uint words[(sizeof(value) + 3) / 4];                 \
    } both;                                                \
    both.stored = (value);                                 \
    store_streaming((pointer), both.words, sizeof(value)); \
  } while (0)

#elif defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE_STREAMING(value, pointer) __builtin_nontemporal_store(value, pointer)
#endif
#endif

#ifndef STORE_STREAMING
#ifndef PLAIN_WILL_DO
#error "unsupported: the compiler has no streaming stores"
#endif
#define STORE_STREAMING(value, pointer) (*(pointer) = (value))
#endif
