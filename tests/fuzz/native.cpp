// The project's own form: config.json, then for each file of weights its name and, counted by two bytes, its bytes.

#include <algorithm>
#include <string>

#include "fuzz/json_mutator.hpp"
#include "fuzz/run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  directory.clear();
  std::filesystem::create_directory(directory.path() / "weights");
  qkv::fuzz::Input input(data, size);
  (void)directory.write("config.json", input.part());
  while (!input.rest().empty()) {
    std::string name(input.part());
    std::replace(name.begin(), name.end(), '/', '_');
    const auto bytes = input.counted();
    if (!name.empty() && name.size() < 100 && name.front() != '.') (void)directory.write("weights/" + name, bytes);
  }
  qkv::fuzz::load_and_run(directory.path());
  return 0;
}
