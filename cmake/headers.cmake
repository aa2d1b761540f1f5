# Every public header, by floor. A new header must be named here: that is when one thinks about its floor.
set(lazymoe_headers
  include/lazymoe/version.hpp
  # floor 0
  include/lazymoe/core/buffer.hpp
  include/lazymoe/core/bytes.hpp
  include/lazymoe/core/contract.hpp
  include/lazymoe/core/error.hpp
  include/lazymoe/core/types.hpp
  include/lazymoe/core/visit_named.hpp
  # floor 1: instrument, parallel, io, simd
  include/lazymoe/instrument/counters.hpp
  include/lazymoe/instrument/stopwatch.hpp
  include/lazymoe/io/file_handle.hpp
  include/lazymoe/io/mapping.hpp
  include/lazymoe/parallel/io_queue.hpp
  include/lazymoe/parallel/thread_pool.hpp
  # floor 2: quant
  include/lazymoe/quant/decode.hpp
  include/lazymoe/quant/encode.hpp
  include/lazymoe/quant/format.hpp
  include/lazymoe/quant/formats/iq4_nl.hpp
  include/lazymoe/quant/formats/iq4_xs.hpp
  include/lazymoe/quant/formats/mxfp4.hpp
  include/lazymoe/quant/formats/plain.hpp
  include/lazymoe/quant/formats/q2_k.hpp
  include/lazymoe/quant/formats/q3_k.hpp
  include/lazymoe/quant/formats/q4_0.hpp
  include/lazymoe/quant/formats/q4_1.hpp
  include/lazymoe/quant/formats/q4_k.hpp
  include/lazymoe/quant/formats/q5_0.hpp
  include/lazymoe/quant/formats/q5_1.hpp
  include/lazymoe/quant/formats/q5_k.hpp
  include/lazymoe/quant/formats/q6_k.hpp
  include/lazymoe/quant/formats/q8_0.hpp
  include/lazymoe/quant/formats/q8_1.hpp
  include/lazymoe/quant/formats/q8_k.hpp
  include/lazymoe/quant/half.hpp
  include/lazymoe/quant/packed_matrix.hpp
  include/lazymoe/quant/registry.hpp
  # floor 3: gguf, cache
  include/lazymoe/cache.hpp
  include/lazymoe/cache/detail/linked_order.hpp
  include/lazymoe/cache/detail/ranked_heap.hpp
  include/lazymoe/cache/eviction.hpp
  include/lazymoe/cache/fifo.hpp
  include/lazymoe/cache/lfu.hpp
  include/lazymoe/cache/lfu_aged.hpp
  include/lazymoe/cache/lru.hpp
  include/lazymoe/cache/registry.hpp
  include/lazymoe/cache/sieve.hpp
  include/lazymoe/gguf/detail/quote.hpp
  include/lazymoe/gguf/metadata.hpp
  include/lazymoe/gguf/tensor.hpp
  include/lazymoe/gguf/value.hpp
  # floor 4: text, tensor, experts
  include/lazymoe/experts/slice.hpp
  include/lazymoe/experts/slice_math.hpp
  include/lazymoe/text.hpp
  include/lazymoe/text/bpe.hpp
  include/lazymoe/text/byte_alphabet.hpp
  include/lazymoe/text/chat_template.hpp
  include/lazymoe/text/detail/flat_index.hpp
  include/lazymoe/text/detail/read_vocabulary.hpp
  include/lazymoe/text/end_tokens.hpp
  include/lazymoe/text/pretokenizer.hpp
  include/lazymoe/text/segment.hpp
  include/lazymoe/text/special_tokens.hpp
  include/lazymoe/text/tokenizer.hpp
  include/lazymoe/text/utf8_stream.hpp
  include/lazymoe/text/vocabulary.hpp
  # floor 5: storage
  # floor 6: store
  # floor 7: moe
  # floor 8: models
  # floor 9: generate
  include/lazymoe/generate/sampler.hpp
  include/lazymoe/generate/stop.hpp
)
