// A directory as Hugging Face publishes it: config.json, a zero byte, an index of shards or nothing, a zero byte, and
// the file that holds all tensors, or the only shard.

#include "fuzz/json_mutator.hpp"
#include "fuzz/run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  directory.clear();
  qkv::fuzz::Input input(data, size);
  (void)directory.write("config.json", input.part());
  const auto index = input.part();
  if (!index.empty()) (void)directory.write("model.safetensors.index.json", index);
  (void)directory.write(index.empty() ? "model.safetensors" : "1.safetensors", input.rest());
  qkv::fuzz::load_and_run(directory.path());
  return 0;
}
