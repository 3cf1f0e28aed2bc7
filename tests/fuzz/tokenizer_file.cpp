// A file of pieces, which is known by its content: SentencePiece's tokenizer.model, llama2.c's tokenizer.bin.

#include "fuzz/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  const auto bytes = qkv::fuzz::Input(data, size).rest();
  const auto path = directory.write("tokenizer", bytes);
  (void)qkv::fuzz::accepted([&] { qkv::fuzz::use(qkv::Tokenizer::open_file(path), bytes); });
  return 0;
}
