// qkv heads: one row a head, what it does with a text; and what becomes of the next token without some of them.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "ablation_options.hpp"
#include "log.hpp"
#include "opened.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "program.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/inspect/head_report.hpp"
#include "qkv/inspect/writers/csv_writer.hpp"

namespace qkv::app {
namespace {

struct HeadsCommand {
  ModelOptions model;
  PromptOptions prompt;
  AblationOptions ablation;
  std::string format = "table";
  std::string sort;
};

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const auto& column : metric_columns()) names.emplace_back(column.name);
  return names;
}

/// The largest value of the metric first, heads for which it has no meaning last.
void sort_by(std::vector<HeadMetrics>& heads, const std::string& metric) {
  for (const auto& column : metric_columns()) {
    if (column.name != metric) continue;
    std::stable_sort(heads.begin(), heads.end(), [&](const HeadMetrics& a, const HeadMetrics& b) {
      return column.value(a).value_or(-1.0) > column.value(b).value_or(-1.0);
    });
  }
}

/// "it -> ball (10 -> 5)"
std::string where_largest(const HeadMetrics& head, std::span<const TokenLabel> tokens) {
  if (head.largest_query < 0) return "n/a";
  const auto label = [&](std::int64_t position) {
    return escape_controls(tokens[static_cast<std::size_t>(position)].text);
  };
  return fmt::format("'{}' -> '{}' ({} -> {})", label(head.largest_query), label(head.largest_key), head.largest_query,
                     head.largest_key);
}

std::string table(const std::vector<HeadMetrics>& heads, std::span<const TokenLabel> tokens) {
  std::vector<TextTable::Column> columns{{"layer", true}, {"head", true}};
  for (const auto& name : metric_names()) columns.push_back({name, true});
  columns.push_back({"query -> key of the largest"});
  TextTable table(columns);
  for (const auto& head : heads) {
    std::vector<std::string> row{fmt::format("{}", head.head.layer), fmt::format("{}", head.head.head)};
    for (const auto& column : metric_columns()) {
      const auto value = column.value(head);
      row.push_back(value ? fmt::format("{:.3f}", *value) : "n/a");
    }
    row.push_back(where_largest(head, tokens));
    table.add(std::move(row));
  }
  return table.text();
}

std::string csv(const std::vector<HeadMetrics>& heads, std::span<const TokenLabel> tokens) {
  std::string text = "layer,head";
  for (const auto& name : metric_names()) text += "," + name;
  text += ",largest_query,largest_key,query_token,key_token\r\n";
  for (const auto& head : heads) {
    text += fmt::format("{},{}", head.head.layer, head.head.head);
    for (const auto& column : metric_columns()) {
      const auto value = column.value(head);
      text += value ? fmt::format(",{}", *value) : ",";
    }
    const bool has_largest = head.largest_query >= 0;
    text += has_largest ? fmt::format(",{},{},{},{}\r\n", head.largest_query, head.largest_key,
                                      csv_field(tokens[static_cast<std::size_t>(head.largest_query)].text),
                                      csv_field(tokens[static_cast<std::size_t>(head.largest_key)].text))
                        : ",,,,\r\n";
  }
  return text;
}

OrderedJson json(const std::vector<HeadMetrics>& heads, const Opened& opened) {
  OrderedJson object{{"schema", "qkv.heads/1"}};
  put_text(object, "model", opened.model.name());
  object["tokens"] = tokens_json(opened.labels(opened.prompt));
  auto& rows = object["heads"] = OrderedJson::array();
  for (const auto& head : heads) {
    OrderedJson row{{"layer", head.head.layer}, {"head", head.head.head}};
    for (const auto& column : metric_columns()) {
      const auto value = column.value(head);
      row[std::string(column.name)] = value ? OrderedJson(*value) : OrderedJson(nullptr);
    }
    if (head.largest_query >= 0) {
      row["largest_query"] = head.largest_query;
      row["largest_key"] = head.largest_key;
    }
    rows.push_back(std::move(row));
  }
  return object;
}

int run(const HeadsCommand& command) {
  command.prompt.check_ids_alone();
  const auto opened = open(command.model, command.prompt);
  Session session(opened.model, static_cast<int>(command.model.threads));
  const auto effect = command.ablation.measure(opened, session.threads());
  session.ablate(command.ablation.heads());
  auto heads = measure_heads(session, opened.prompt);
  if (!command.sort.empty()) sort_by(heads, command.sort);
  const auto tokens = opened.labels(opened.prompt);
  if (command.format == "json") {
    auto object = json(heads, opened);
    if (effect) object["ablation"] = ablation_json(*effect, command.ablation, opened);
    write_out(object.dump() + "\n");
  } else if (command.format == "csv") {
    write_out(csv(heads, tokens));
    if (effect) log::result(ablation_text(*effect, command.ablation, opened));
  } else {
    write_out(table(heads, tokens));
    if (effect) write_out("\n" + ablation_text(*effect, command.ablation, opened) + "\n");
  }
  return ok;
}

}  // namespace

void add_heads_command(Program& program) {
  auto* command = program.cli.add_subcommand("heads", "Report what each head does with a text");
  auto heads = std::make_shared<HeadsCommand>();
  heads->model.add_to(*command);
  heads->prompt.add_to(*command);
  heads->ablation.add_to(*command);
  add_name(*command, "--format", heads->format, {"table", "csv", "json"}, "Output");
  add_name(*command, "--sort", heads->sort, metric_names(), "Largest first by this column")
      ->default_str("by layer and head");
  command->callback([&program, heads] { program.run = [heads] { return run(*heads); }; });
}

}  // namespace qkv::app
