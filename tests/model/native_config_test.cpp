// The config.json of the project's own form, written and read back. Which fields a Config has is found out here, not
// listed: a field that was added to Config and forgotten in native_config.cpp fails this test.

#include "qkv/model/native_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "qkv/core/error.hpp"
#include "support/catch.hpp"
#include "support/fields.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

/// A value as text; different values give different texts.
template <typename T>
std::string spelled(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", static_cast<int>(value));
  } else if constexpr (IsOptional<T>::value) {
    return value ? "some " + spelled(*value) : "none";
  } else if constexpr (IsVector<T>::value) {
    std::string text = "[";
    for (const auto& one : value) text += spelled<typename T::value_type>(one) + " ";
    return text + "]";
  } else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) {
    std::string text;
    visit_leaves(value, [&](const std::string& path, const auto& leaf) { text += path + "=" + spelled(leaf) + " "; });
    return text;
  } else {
    return fmt::format("{}", value);
  }
}

/// Other values to try in a place, some of which any range should allow.
template <typename T>
std::vector<T> others(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return {!value};
  } else if constexpr (std::is_enum_v<T>) {
    std::vector<T> all;
    for (int i = 0; i < 12; ++i)
      if (i != static_cast<int>(value)) all.push_back(static_cast<T>(i));
    return all;
  } else if constexpr (std::is_floating_point_v<T>) {
    return {value * T(0.5) + T(0.125), value * T(2), value + T(3)};
  } else if constexpr (std::is_integral_v<T>) {
    return {static_cast<T>(value + 1), static_cast<T>(value + 2), T{1}};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {value + "x"};
  } else if constexpr (IsOptional<T>::value) {
    if (value) return {std::nullopt};
    if constexpr (std::is_same_v<T, std::optional<RotaryConfig>>) {
      RotaryConfig rotary;
      rotary.n_rotated = 2;
      return {rotary};
    } else {
      return {T(typename T::value_type{1})};
    }
  } else {
    static_assert(IsVector<T>::value, "a kind of field that this test does not know yet");
    using One = typename T::value_type;
    std::vector<T> all;
    for (const std::size_t length : {1U, 2U}) {  // the config has two layers
      all.emplace_back(length, One{});
      if constexpr (std::is_arithmetic_v<One>) all.emplace_back(length, One{1});
    }
    return all;
  }
}

std::optional<Config> read_back(const Config& config) {
  try {
    return read_native_config(JsonReader("written", nlohmann::json::parse(native_config_json(config).dump())));
  } catch (const Error&) {
    return std::nullopt;  // a value that the file may not hold
  }
}

bool comes_back(const Config& config) {
  const auto back = read_back(config);
  return back && spelled(*back) == spelled(config);
}

/// All configs that differ from this one in the leaf with this path.
std::vector<Config> with_other(const Config& config, const std::string& wanted) {
  std::vector<Config> all;
  visit_leaves(config, [&](const std::string& path, const auto& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    if (path != wanted) return;
    for (const auto& other : others<Leaf>(leaf)) {
      auto changed = config;
      visit_leaves(changed, [&](const std::string& place, auto& value) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, Leaf>)
          if (place == wanted) value = other;
      });
      all.push_back(changed);
    }
  });
  return all;
}

/// The config with each of its choices made otherwise, up to two at once, as far as they can be written: there is one
/// among them for which any given field matters.
std::vector<Config> with_other_choices(const Config& config) {
  std::vector<Config> all{config};
  std::set<std::string> known{spelled(config)};
  std::vector<std::string> choices;
  visit_leaves(config, [&](const std::string& path, const auto& leaf) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(leaf)>>) choices.push_back(path);
  });
  std::size_t from = 0;
  for (int round = 0; round < 2; ++round) {
    const auto until = all.size();
    for (; from < until; ++from)
      for (const auto& path : choices)
        for (const auto& other : with_other(all[from], path))
          if (comes_back(other) && known.insert(spelled(other)).second) all.push_back(other);
  }
  return all;
}

Config start() {
  auto config = tiny_config();
  config.name = "tiny";
  config.attention.n_kv_heads = 1;
  config.position.rotary = {};
  config.eos = {2, 5};
  return config;
}

}  // namespace

TEST_CASE("fields are counted without a list", "[model]") {
  struct Two {
    int a;
    std::optional<int> b;
  };
  struct Nested {
    Two two;
    std::string text;
    std::vector<int> list;
    bool flag = true;
  };
  CHECK(field_count<Two>() == 2);
  CHECK(field_count<Nested>() == 4);
  CHECK(field_count<HeadConfig>() == 3);
  CHECK(field_count<NormConfig>() >= 3);
  CHECK(field_count<Config>() >= 15);
}

TEST_CASE("every field of a config is written and read back", "[model]") {
  const auto config = start();
  auto rotary = config;
  rotary.position.kind = PositionConfig::Kind::rotary;
  rotary.position.rotary.n_rotated = 4;
  auto scaled = rotary;
  scaled.position.rotary.scaling.kind = RotaryScaling::Kind::llama3;
  scaled.position.rotary.scaling.factor = 8.0;
  scaled.position.rotary.scaling.high_frequency_factor = 4.0;
  scaled.position.rotary.scaling.original_n_ctx = 1024.0;
  std::vector<Config> all;
  for (const auto& one : {config, rotary, scaled}) {
    REQUIRE(comes_back(one));
    const auto more = with_other_choices(one);
    all.insert(all.end(), more.begin(), more.end());
  }
  CHECK(all.size() > 20);

  std::string family;  // who reads it, which is no field of the file
  std::vector<std::string> paths;
  visit_leaves(config, [&](const std::string& path, const auto& leaf) {
    if (static_cast<const void*>(&leaf) == static_cast<const void*>(&config.family)) family = path;
    paths.push_back(path);
  });
  CHECK(paths.size() > 30);
  for (const auto& path : paths) {
    if (path == family) continue;
    INFO("field " << path << " of Config, counted from 0, structs inside of it by a further index");
    const bool found = std::any_of(all.begin(), all.end(), [&](const Config& one) {
      const auto changed = with_other(one, path);
      return std::any_of(changed.begin(), changed.end(), comes_back);
    });
    CHECK(found);
  }
}

TEST_CASE("numbers are written with the fewest digits that are the same number", "[model]") {
  auto config = start();
  config.norm.epsilon = 1e-5F;
  config.attention.scale = 1.0 / std::sqrt(8.0);
  const auto text = native_config_json(config).dump();
  CHECK(text.find("\"epsilon\":1e-05") != std::string::npos);
  CHECK(text.find("\"scale\":0.35355339059327373") != std::string::npos);
  for (const float epsilon : {1e-6F, 9.99e-6F, 0.1F, 1.0F / 3.0F, 1.17549435e-38F, 0.0F}) {
    config.norm.epsilon = epsilon;
    REQUIRE(read_back(config).has_value());
    CHECK(read_back(config)->norm.epsilon == epsilon);
  }
}

TEST_CASE("a name that is no UTF-8 is written all the same", "[model]") {
  auto config = start();
  config.name = "caf\xE9";
  REQUIRE(read_back(config).has_value());
  CHECK(read_back(config)->name == "caf\xEF\xBF\xBD");
}

}  // namespace qkv::test
