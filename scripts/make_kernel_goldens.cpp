// Writes tests/golden/kernels/: activations rounded by the reference library's CPU backend and its dot
// products with rows it quantized. Compile against the shared libraries of ggml in the folder LIB:
//
//     g++ -std=c++20 make_kernel_goldens.cpp -o make -L LIB -l:libggml-base.so -ldl -Wl,-rpath,LIB
//     ./make LIB/libggml-cpu-haswell.so OUT
//
// The declarations below are those of ggml.h and ggml-cpu.h of August 2026, cut to what is used.
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

extern "C" std::size_t ggml_quantize_chunk(int type, const float* src, void* dst, std::int64_t start, std::int64_t rows,
                                           std::int64_t cols, const float* imatrix);
extern "C" bool ggml_quantize_requires_imatrix(int type);

struct CpuTraits {
  void (*from_float)(const float* x, void* y, std::int64_t n);
  void (*vec_dot)(int n, float* s, std::size_t bs, const void* x, std::size_t bx, const void* y, std::size_t by,
                  int nrc);
  int vec_dot_type;
  std::int64_t nrows;
};

struct Type {
  const char* name;
  int id;
  std::size_t block_elems;
  std::size_t block_bytes;
};

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  void* cpu = dlopen(argv[1], RTLD_NOW);
  if (cpu == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const auto init = reinterpret_cast<void (*)()>(dlsym(cpu, "ggml_cpu_init"));
  const auto traits = reinterpret_cast<const CpuTraits* (*)(int)>(dlsym(cpu, "ggml_get_type_traits_cpu"));
  init();
  const auto write = [&](const std::string& name, const auto& values) {
    std::ofstream file(std::string(argv[2]) + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(values[0])));
  };

  // Four blocks of 256: usual numbers; zeros, then tiny numbers; largest magnitudes of both signs and ties;
  // a wide range.
  constexpr std::size_t n = 1024;
  std::mt19937 random(7);
  std::normal_distribution<float> gauss;
  std::vector<float> x(n);
  for (std::size_t i = 0; i < 256; ++i) x[i] = gauss(random);
  for (std::size_t i = 256 + 64; i < 512; ++i) x[i] = gauss(random) * 1e-6F;
  for (std::size_t i = 512; i < 768; ++i) x[i] = std::round(gauss(random) * 4) / 2;
  x[600] = -127.0F;
  x[700] = 127.0F;
  for (std::size_t i = 768; i < n; ++i) x[i] = std::exp(6 * gauss(random)) * (i % 3 == 0 ? -1.0F : 1.0F);
  write("x.f32", x);

  const Type activations[] = {
      {"f16", 1, 1, 2}, {"q8_0", 8, 32, 34}, {"q8_1", 9, 32, 36}, {"q8_K", 15, 256, 292}, {"bf16", 30, 1, 2}};
  const auto rounded = [&](const Type& type, const std::vector<float>& values) {
    std::vector<char> out(values.size() / type.block_elems * type.block_bytes);
    traits(type.id)->from_float(values.data(), out.data(), static_cast<std::int64_t>(values.size()));
    return out;
  };
  for (const auto& type : activations) write(std::string("x.") + type.name, rounded(type, x));

  // One row of 1024 a format and its product with Gaussian numbers.
  std::vector<float> y(n);
  std::vector<float> w(n);
  for (auto& v : y) v = gauss(random);
  for (auto& v : w) v = gauss(random);
  write("y.f32", y);
  const Type formats[] = {
      {"F16", 1, 1, 2},         {"BF16", 30, 1, 2},       {"Q4_0", 2, 32, 18},     {"Q4_1", 3, 32, 20},
      {"Q5_0", 6, 32, 22},      {"Q5_1", 7, 32, 24},      {"Q8_0", 8, 32, 34},     {"Q2_K", 10, 256, 84},
      {"Q3_K", 11, 256, 110},   {"Q4_K", 12, 256, 144},   {"Q5_K", 13, 256, 176},  {"Q6_K", 14, 256, 210},
      {"IQ4_NL", 20, 32, 18},   {"IQ4_XS", 23, 256, 136}, {"MXFP4", 39, 32, 17},
                          {"NVFP4", 40, 64, 36},  {"Q1_0", 41, 128, 18},  {"Q2_0", 42, 64, 18},   {"TQ1_0", 34, 256, 54},
                          {"TQ2_0", 35, 256, 66},   {"IQ1_S", 19, 256, 50},
      {"IQ1_M", 29, 256, 56},   {"IQ2_XXS", 16, 256, 66}, {"IQ2_XS", 17, 256, 74}, {"IQ2_S", 22, 256, 82},
      {"IQ3_XXS", 18, 256, 98}, {"IQ3_S", 21, 256, 110}};
  const std::vector<float> importance(n, 1.0F);  // a few formats are not quantized without
  for (const auto& type : formats) {
    std::vector<char> row(n / type.block_elems * type.block_bytes);
    ggml_quantize_chunk(type.id, w.data(), row.data(), 0, 1, static_cast<std::int64_t>(n),
                        ggml_quantize_requires_imatrix(type.id) ? importance.data() : nullptr);
    std::vector<char> other;
    for (const auto& a : activations)
      if (a.id == traits(type.id)->vec_dot_type) other = rounded(a, y);
    std::vector<float> result(1);
    traits(type.id)->vec_dot(static_cast<int>(n), result.data(), 0, row.data(), 0, other.data(), 0, 1);
    write(std::string(type.name) + ".row", row);
    write(std::string(type.name) + ".dot", result);
  }
}
