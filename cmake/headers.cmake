# Every public header, by floor. A new header must be named here: that is when one thinks about its floor.
set(lazymoe_headers
  include/lazymoe/version.hpp
  # floor 0
  include/lazymoe/core/buffer.hpp
  include/lazymoe/core/bytes.hpp
  include/lazymoe/core/contract.hpp
  include/lazymoe/core/error.hpp
  include/lazymoe/core/types.hpp
  # floor 1: instrument, parallel, io, simd
  include/lazymoe/io/file_handle.hpp
  include/lazymoe/io/mapping.hpp
  # floor 2: quant
  include/lazymoe/quant/format.hpp
  include/lazymoe/quant/formats/plain.hpp
  include/lazymoe/quant/formats/q4_k.hpp
  include/lazymoe/quant/formats/q5_k.hpp
  include/lazymoe/quant/formats/q6_k.hpp
  include/lazymoe/quant/formats/q8_0.hpp
  include/lazymoe/quant/half.hpp
  include/lazymoe/quant/registry.hpp
  # floor 3: gguf, cache
  include/lazymoe/gguf/detail/quote.hpp
  include/lazymoe/gguf/metadata.hpp
  include/lazymoe/gguf/tensor.hpp
  include/lazymoe/gguf/value.hpp
  # floor 4: text, tensor, experts
  include/lazymoe/experts/slice.hpp
  include/lazymoe/experts/slice_math.hpp
  # floor 5: storage
  # floor 6: store
  # floor 7: moe
  # floor 8: models
  # floor 9: generate
)
