// A GGUF file: the model, and the tokenizer in its metadata.

#include "fuzz/run.hpp"
#include "fuzz/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  const auto bytes = qkv::fuzz::Input(data, size).rest();
  const auto path = directory.write("model.gguf", bytes);
  qkv::fuzz::load_and_run(path);
  (void)qkv::fuzz::accepted([&] {
    if (const auto tokenizer = qkv::Tokenizer::open(path)) qkv::fuzz::use(*tokenizer, bytes);
  });
  return 0;
}
