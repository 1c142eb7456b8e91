// SPDX-License-Identifier: Apache-2.0
// parts: states of many parts, of which each item of a looking bundle holds one. NVIDIA's warps alone.
//
// Behind look_back.cl, for PARTS of 32 at most.
// LOOKS             parts that an item asks for at once
#if PTX

#if PARTS <= 1
#define ABREAST 1
#elif PARTS <= 2
#define ABREAST 2
#elif PARTS <= 4
#define ABREAST 4
#elif PARTS <= 8
#define ABREAST 8
#elif PARTS <= 16
#define ABREAST 16
#else
#define ABREAST 32
#endif

// The part of a state that is this item's. Those that are left over have the last one, too.
uint own_part(void) { return min(own_lane() % ABREAST, PARTS - 1u); }

#define VALUE_WORDS (VALUE_BYTES / 4)
typedef struct {
  Word at[VALUE_WORDS];
} Part;

Part load_part(volatile __global Word* states, const uint tile) {
  Part part;
  volatile __global Word* words = state_of(states, tile) + own_part() * VALUE_WORDS;
#if VALUE_WORDS == 2
  load_pair_relaxed(words, part.at);
#else
  part.at[0] = load_relaxed(words);
#endif
  return part;
}

// The part's flag, or INVALID while its words do not agree.
uint read_part(const Part part, const uint epoch, Value* value) {
  Shuffled s;
  const Word tag = part.at[0] & TAG_MASK;
  bool agrees = tag >> 2 == (Word)epoch;
#pragma unroll
  for (uint w = 0; w < VALUE_WORDS; ++w) {
    agrees = agrees && (part.at[w] & TAG_MASK) == tag;
    s.pieces[w] = (uint)(part.at[w] >> 32);
  }
  if (!agrees) return INVALID;
  *value = s.value;
  return (uint)(tag & 3);
}

// All items of a bundle together, and what is between two states, too: where memory takes whole sectors, it need not
// read the rest of one.
void publish_parts(volatile __global Word* states, const uint tile, const uint epoch, const uint flag,
                   const Value own) {
  const uint lane = own_lane();
  Shuffled s;
  s.value = own;
#pragma unroll
  for (uint w = 0; w < VALUE_WORDS; ++w) {
    if (lane < PITCH / VALUE_WORDS)
      store_relaxed(state_of(states, tile) + lane * VALUE_WORDS + w, PART(s.pieces, w) | TAG(epoch, flag));
  }
}

#define TILE_LANES (ABREAST == 32 ? ~0u : (1u << ABREAST % 32) - 1)
// Of the items that look at the same tile those where all do so: the first of each.
uint where_all(uint lanes) {
#pragma unroll
  for (uint d = 1; d < ABREAST; d *= 2) lanes &= lanes >> d;
  return lanes & ~0u / TILE_LANES;
}

// What precedes the tile, of this item's part. Each item of a bundle asks for LOOKS parts at a time, and
// BUNDLE / ABREAST tiles are looked at together. All parts walk as one: a tile whose prefix is not out in all of them
// counts as not there, as its other parts are on their way.
Value look_back_parts(volatile __global Word* states, const Claim mine) {
  const uint bit = 1u << own_lane();
  const int back = (int)(own_lane() / ABREAST);
  const int together = BUNDLE / ABREAST;
  Value after = neutral();
  int position = (int)mine.tile - 1;
  bool done = false;
  for (uint polled = 0; !done && polled < POLLS; ++polled) {
    Part seen[LOOKS];
#pragma unroll
    for (int w = 0; w < LOOKS; ++w)  // all are on their way before the first is needed
      seen[w] = load_part(states, (uint)max(position - w * together - back, 0));
    bool there = true;
#pragma unroll
    for (int w = 0; w < LOOKS; ++w) {
      const int at = position - back;
      Value value = at == FRONT && EXCLUSIVE ? (Value)INITIAL : neutral();
      const uint flag = at < 0 ? INCLUSIVE : read_part(seen[w], mine.epoch, &value);
      const uint inclusive = ballot(flag == INCLUSIVE), aggregate = ballot(flag == AGGREGATE);
      const uint whole = where_all(inclusive), first = whole & (0u - whole);
      const uint nearer = first - 1;  // all, where none is
      there = there && !done && (aggregate & nearer) == nearer;
      if (there) {
        if (((nearer | first * TILE_LANES) & bit) != 0) after = combine_values(value, after);
        done = whole != 0;
        position -= together;
      }
    }
  }
#pragma unroll
  for (uint d = ABREAST; d < BUNDLE; d *= 2) after = combine_values(from_item(after, own_lane() ^ d), after);
  return after;
}

#endif
