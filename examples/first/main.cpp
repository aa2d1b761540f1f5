#include <iostream>

#include <lazymoe/lazymoe.hpp>

int main(int argc, char** argv) try {
  using namespace lazymoe::literals;
  if (argc != 3) throw std::runtime_error("usage: first MODEL.gguf QUESTION");

  const lazymoe::gguf::File file(argv[1]);
  lazymoe::ThreadPool pool;
  auto experts = lazymoe::make_store(file, {.budget = 6_GiB});  // never more than this for experts
  const auto model = lazymoe::load_model(file, experts, pool);

  lazymoe::Session chat(model, file.metadata());
  chat.reply(argv[2], [](std::string_view piece) { std::cout << piece << std::flush; });
  std::cout << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
