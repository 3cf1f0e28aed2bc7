#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

/// libFuzzer's own changes, to bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace qkv::fuzz {

/// Changes one value of a JSON document, so that it stays one: most changes to single bytes end at the parser.
class JsonMutator {
 public:
  JsonMutator(nlohmann::json& document, unsigned seed) : document_(document), random_(seed) { collect(document_); }

  void run() {
    auto& node = any();
    switch (below(5)) {
      case 0:
        node = value();
        break;
      case 1:
        node = nlohmann::json(any());
        break;
      case 2:
        if (node.is_structured() && !node.empty()) node.erase(std::next(node.begin(), below(node.size())));
        break;
      case 3:
        insert(node);
        break;
      default:
        nudge(node);
    }
  }

 private:
  void collect(nlohmann::json& node) {
    nodes_.push_back(&node);
    if (node.is_object())
      for (const auto& item : node.items()) keys_.push_back(item.key());
    if (node.is_structured())
      for (auto& inner : node) collect(inner);
  }

  std::ptrdiff_t below(std::size_t count) { return static_cast<std::ptrdiff_t>(random_() % count); }
  nlohmann::json& any() { return *nodes_[static_cast<std::size_t>(below(nodes_.size()))]; }

  nlohmann::json value() {
    using nlohmann::json;
    static const std::vector<json> values{nullptr,
                                          true,
                                          false,
                                          0,
                                          1,
                                          -1,
                                          2,
                                          3,
                                          256,
                                          std::int64_t{1} << 31,
                                          (std::int64_t{1} << 53) + 1,
                                          std::numeric_limits<std::int64_t>::min(),
                                          std::numeric_limits<std::uint64_t>::max(),
                                          0.5,
                                          -0.0,
                                          1e-300,
                                          1e300,
                                          "",
                                          "a",
                                          json::array(),
                                          json::object()};
    return values[static_cast<std::size_t>(below(values.size()))];
  }

  void insert(nlohmann::json& node) {
    const nlohmann::json copy = below(2) == 0 ? value() : any();
    if (node.is_array())
      node.insert(std::next(node.begin(), below(node.size() + 1)), copy);
    else if (node.is_object() && !keys_.empty())
      node[keys_[static_cast<std::size_t>(below(keys_.size()))]] = copy;
  }

  void nudge(nlohmann::json& node) {
    if (node.is_number_integer())
      node = static_cast<std::int64_t>(node.get<std::uint64_t>() + random_() % 5 - 2);
    else if (node.is_number())
      node = node.get<double>() * (below(2) == 0 ? -2.0 : 0.1);
    else if (node.is_boolean())
      node = !node.get<bool>();
    else if (node.is_string())
      change_text(node.get_ref<std::string&>());
  }

  static void change_text(std::string& text) {
    constexpr std::size_t room = 16;
    const auto size = text.size();
    text.resize(size + room);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  }

  nlohmann::json& document_;
  std::minstd_rand random_;
  std::vector<nlohmann::json*> nodes_;
  std::vector<std::string> keys_;
};

/// Changes the JSON that an input begins with, up to a zero byte; libFuzzer's own changes half of the time, and where
/// it is none.
inline std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  const std::string_view whole(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(whole.find('\0'), size);
  constexpr int deepest = 250;  // writing what is deeper uses up the stack
  const auto keep = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= deepest; };
  auto document = seed % 2 == 0 ? nlohmann::json() : nlohmann::json::parse(whole.substr(0, end), keep, false);
  if (!document.is_structured()) return LLVMFuzzerMutate(data, size, max_size);
  JsonMutator(document, seed).run();
  const auto changed =
      document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + std::string(whole.substr(end));
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}

}  // namespace qkv::fuzz

// In every entry that includes this.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return qkv::fuzz::mutate_json(data, size, max_size, seed);
}
