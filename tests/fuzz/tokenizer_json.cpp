// A tokenizer.json, then a zero byte and a text, then another and a tokenizer_config.json.

#include "fuzz/json_mutator.hpp"
#include "fuzz/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  qkv::fuzz::Input input(data, size);
  directory.clear();
  const auto json = input.part();
  (void)directory.write("tokenizer.json", json);
  const auto text = input.part();
  if (!input.rest().empty()) (void)directory.write("tokenizer_config.json", input.rest());
  (void)qkv::fuzz::accepted([&] {
    if (const auto tokenizer = qkv::Tokenizer::open(directory.path()))
      qkv::fuzz::use(*tokenizer, text.empty() ? json : text);
  });
  return 0;
}
