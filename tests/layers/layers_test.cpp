// Who may include whom, and what the library must not do: read from the sources themselves.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

struct Line {
  std::string file;  // below src/qkv, "model/session.cpp"
  int number;
  std::string text;
};

std::string described(const Line& line) { return line.file + ":" + std::to_string(line.number) + ": " + line.text; }

const std::vector<Line>& source_lines() {
  static const auto lines = [] {
    std::vector<Line> all;
    const auto root = fs::path(QKV_SOURCE_DIR) / "src" / "qkv";
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const auto ending = entry.path().extension();
      if (ending != ".cpp" && ending != ".hpp") continue;
      std::ifstream file(entry.path());
      const auto name = entry.path().lexically_relative(root).generic_string();
      int number = 0;
      for (std::string text; std::getline(file, text);) all.push_back({name, ++number, text});
    }
    return all;
  }();
  return lines;
}

std::string folder_of(const std::string& file) { return file.substr(0, file.find('/')); }

/// The line without its comment; text inside string literals stays.
std::string code_of(const std::string& text) { return text.substr(0, text.find("//")); }

/// The lines whose code matches, comments left out.
std::vector<Line> matching(const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<Line> found;
  for (const auto& line : source_lines())
    if (std::regex_search(code_of(line.text), regex)) found.push_back(line);
  return found;
}

void check_none(const std::string& pattern, const std::string& why) {
  for (const auto& line : matching(pattern)) {
    INFO(described(line));
    FAIL_CHECK(why);
  }
}

/// The folders that each folder may include, besides itself.
const std::map<std::string, std::set<std::string>> allowed{
    {"core", {}},
    {"tensor", {"core"}},
    {"io", {"core", "tensor"}},
    {"draw", {"core", "io"}},
    {"ops", {"core", "tensor"}},
    {"tokenizer", {"core", "tensor", "io"}},
    {"model", {"core", "tensor", "io", "ops"}},
    {"generate", {"core", "tensor", "io", "ops", "tokenizer", "model"}},
    {"inspect", {"core", "tensor", "io", "draw", "ops", "tokenizer", "model"}},
    {"timing", {"core", "tensor", "io", "draw", "ops", "tokenizer", "model"}}};

}  // namespace

TEST_CASE("the sources are found", "[layers]") {
  CHECK(source_lines().size() > 1000);
  CHECK(matching(R"(#include "qkv/core/error\.hpp")").size() > 5);
}

TEST_CASE("every folder includes only what stands below it", "[layers]") {
  static const std::regex include(R"(^\s*#\s*include\s+["<]([^">]+)[">])");
  for (const auto& line : source_lines()) {
    std::smatch match;
    if (!std::regex_search(line.text, match, include)) continue;
    const std::string path = match[1];
    INFO(described(line));
    if (line.text.find('"') != std::string::npos && path.rfind("qkv/", 0) != 0)
      FAIL_CHECK("headers of the project are included from qkv/ on");
    if (path.rfind("apps/", 0) == 0 || path.find("../") != std::string::npos)
      FAIL_CHECK("the library includes nothing outside of it");
    if (path.rfind("qkv/", 0) != 0) continue;
    const auto from = folder_of(line.file);
    const auto to = folder_of(path.substr(4));
    REQUIRE(allowed.count(from) == 1);
    if (from != to && allowed.at(from).count(to) == 0) FAIL_CHECK(from << " must not include " << to);
  }
}

TEST_CASE("each outside library for numbers is let in by one file", "[layers]") {
  CHECK(matching(R"(#include\s+[<"]cblas\.h)").size() == 1);
  CHECK(matching(R"(#include\s+[<"].*dnnl)").size() <= 1);
  check_none(R"(#include\s+[<"](spdlog|CLI)/)", "logging and the command line belong to the program");
}

TEST_CASE("the library never prints, logs or exits", "[layers]") {
  check_none(R"(std::(cout|cerr|clog)\b|#include <iostream>)", "the library does not print");
  check_none(R"((^|[^\w])(std::)?(printf|fprintf|puts|fputs|putchar|perror)\s*\()", "the library does not print");
  check_none(R"(fmt::print|spdlog)", "the library does not print or log");
  check_none(R"((^|[^\w])(std::)?(exit|_exit|abort|quick_exit|terminate)\s*\()",
             "the library does not end the program");
}

TEST_CASE("families are named in their own files and in two lists", "[layers]") {
  static const std::regex family(
      R"(gpt-?2|llama|mistral|qwen|phi-?[34]|gemma|olmo|cohere|smollm|granite)"
      R"(|\b(gpt_?neox?|gpt_?j|codegen|opt|bloom|mpt|falcon|gpt_?bigcode|starcoder2?|phi|stablelm)\b)",
      std::regex::icase);
  for (const auto& line : source_lines()) {
    // The tokenizer reads files that are called after a family; "llama3" is the published name of a scaling rule.
    if (line.file.rfind("model/families/", 0) == 0 || folder_of(line.file) == "tokenizer") continue;
    auto code = std::regex_replace(code_of(line.text), std::regex("llama3"), "");
    if (line.file == "model/family.cpp") code = std::regex_replace(code, std::regex(R"(\w+_family\(\))"), "");
    if (line.file == "model/container.cpp") code = std::regex_replace(code, std::regex(R"(\w+_container\(\))"), "");
    if (!std::regex_search(code, family)) continue;
    INFO(described(line));
    FAIL_CHECK("a family is named outside of model/families/");
  }
}

TEST_CASE("no file grows past a few hundred lines", "[layers]") {
  std::map<std::string, int> lengths;
  for (const auto& line : source_lines()) lengths[line.file] = std::max(lengths[line.file], line.number);
  for (const auto& [file, length] : lengths) {
    CAPTURE(file, length);
    CHECK(length <= 420);
  }
}

}  // namespace qkv::test
