// SPDX-License-Identifier: Apache-2.0
// streaming_store: defines STORE(pointer, value), where STREAMING asks for it a non-temporal store.
//
// STREAMING         1: stores bypass the caches, or the program does not compile; 2: they do where the compiler has
//                   such stores; 0: plain stores
//
// A write-back cache reads a line before it is overwritten, a third of a copy's traffic, unless a store bypasses it.
#pragma once
#ifdef EDITOR
#define STREAMING 2
#endif

#if STREAMING && (defined(__NV_CL_C_VERSION) || defined(__NVPTX__))

// Stores by PTX: clang's builtin leaves no trace of the hint in it. No caller reads what was stored.
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
#define STORE(pointer, value)                              \
  do {                                                     \
    union {                                                \
      __typeof__(((void)0, (value))) stored;               \
      uint words[(sizeof(value) + 3) / 4];                 \
    } both;                                                \
    both.stored = (value);                                 \
    store_streaming((pointer), both.words, sizeof(value)); \
  } while (0)

#elif STREAMING && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE(pointer, value) __builtin_nontemporal_store(value, pointer)
#endif
#endif

#ifndef STORE
#if STREAMING == 1
#error "unsupported: the compiler has no streaming stores"
#endif
#define STORE(pointer, value) (*(pointer) = (value))
#endif
