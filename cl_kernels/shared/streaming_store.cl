// SPDX-License-Identifier: Apache-2.0
// streaming_store: STORE_STREAMING(value, pointer) stores past the caches.
//
// A cache that is to hold a line must read it first, though all of it is overwritten: a third of a copy's
// traffic. Where a compiler has no such stores, only a kernel with PLAIN_WILL_DO is built, and stores as ever.
#ifdef __has_builtin
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
