// GPT-2's two files: vocab.json, a zero byte, merges.txt.

#include "fuzz/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  qkv::fuzz::Input input(data, size);
  (void)directory.write("vocab.json", input.part());
  (void)directory.write("merges.txt", input.rest());
  (void)qkv::fuzz::accepted([&] {
    if (const auto tokenizer = qkv::Tokenizer::open(directory.path())) qkv::fuzz::use(*tokenizer, input.rest());
  });
  return 0;
}
