// qkv info: what a model is.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "model_options.hpp"
#include "output.hpp"
#include "program.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/tokenizer.hpp"

namespace qkv::app {
namespace {

struct InfoCommand {
  ModelOptions model;
  bool tensors = false;
  bool json = false;
};

std::int64_t byte_count(const Model& model) {
  std::int64_t bytes = 0;
  for (const auto& tensor : model.tensors()) bytes += static_cast<std::int64_t>(tensor.bytes.size());
  return bytes;
}

std::vector<ConfigLine> facts(const Model& model, const std::optional<Tokenizer>& tokenizer) {
  auto lines = describe(model.config());
  lines.insert(lines.begin(), {{"model", model.name()}, {"directory", model.directory().string()}});
  lines.push_back({"parameters", fmt::format("{}", model.config().parameter_count())});
  lines.push_back(
      {"weights", fmt::format("{}, {} tensors, {} bytes", model.format(), model.tensors().size(), byte_count(model))});
  lines.push_back({"tokenizer", tokenizer ? tokenizer->summary() : "none"});
  if (!model.ignored().empty()) lines.push_back({"not needed", fmt::format("{}", fmt::join(model.ignored(), ", "))});
  return lines;
}

std::string tensor_table(const Model& model) {
  TextTable table({{"tensor"}, {"dtype"}, {"shape"}, {"bytes", true}});
  for (const auto& tensor : model.tensors())
    table.add({escape_controls(tensor.name), std::string(name_of(tensor.dtype)), to_string(tensor.shape),
               fmt::format("{}", tensor.bytes.size())});
  return table.text();
}

OrderedJson to_json(const Model& model, const std::optional<Tokenizer>& tokenizer, bool tensors) {
  OrderedJson object{{"schema", "qkv.info/1"}};
  for (const auto& [what, value] : facts(model, tokenizer)) put_text(object, what, value);
  object["parameters"] = model.config().parameter_count();
  object["bytes"] = byte_count(model);
  object["not needed"] = model.ignored();
  if (!tensors) return object;
  auto& list = object["tensors"] = OrderedJson::array();
  for (const auto& tensor : model.tensors())
    list.push_back({{"name", tensor.name},
                    {"dtype", name_of(tensor.dtype)},
                    {"shape", tensor.shape},
                    {"bytes", tensor.bytes.size()}});
  return object;
}

int run(const InfoCommand& info) {
  const auto model = info.model.load(false);
  const auto tokenizer = Tokenizer::open(model.directory());
  if (info.json) {
    write_out(to_json(model, tokenizer, info.tensors).dump() + "\n");
    return ok;
  }
  for (const auto& [what, value] : facts(model, tokenizer))
    write_out(fmt::format("{:<16} {}\n", what, escape_controls(value)));
  if (info.tensors) write_out("\n" + tensor_table(model));
  return ok;
}

}  // namespace

void add_info_command(Program& program) {
  auto* command = program.cli.add_subcommand("info", "Show what a model is");
  auto info = std::make_shared<InfoCommand>();
  info->model.add_model_to(*command);
  command->add_flag("--tensors", info->tensors, "List every stored tensor");
  command->add_flag("--json", info->json, "As one JSON object");
  command->callback([&program, info] { program.run = [info] { return run(*info); }; });
}

}  // namespace qkv::app
