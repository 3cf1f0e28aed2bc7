// A model of llama2.c, of all three versions.

#include "fuzz/run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  qkv::fuzz::load_and_run(directory.write("model.bin", qkv::fuzz::Input(data, size).rest()));
  return 0;
}
