// The kernels of a program of many files, compiled once: the other files are compiled with LAZYMOE_EXTERN_KERNELS.
#include <lazymoe/quant/decode.hpp>
#include <lazymoe/tensor/matmul.hpp>

namespace lazymoe {

template void quant::decode_row<simd::DefaultArch>(const quant::PackedMatrix&, std::size_t, std::span<float>);
template void tensor::multiply_rows<simd::DefaultArch>(const quant::PackedMatrix&, const tensor::Activations&,
                                                       std::span<const std::uint32_t>, std::size_t, std::size_t,
                                                       tensor::Rows&);

}  // namespace lazymoe
