// A directory of an older kind: config.json, a zero byte, pytorch_model.bin (a zip archive with a pickle in it).

#include "fuzz/json_mutator.hpp"
#include "fuzz/run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  qkv::fuzz::Input input(data, size);
  (void)directory.write("config.json", input.part());
  (void)directory.write("pytorch_model.bin", input.rest());
  qkv::fuzz::load_and_run(directory.path());
  return 0;
}
