#include "qkv/model/choices.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace qkv {
namespace {

constexpr std::array<NamedChoice<NormConfig::Kind>, 2> norm_kinds{
    {{"layer", NormConfig::Kind::layer}, {"rms", NormConfig::Kind::rms}}};
constexpr std::array<NamedChoice<PositionConfig::Kind>, 4> position_kinds{{{"none", PositionConfig::Kind::none},
                                                                           {"learned", PositionConfig::Kind::learned},
                                                                           {"rotary", PositionConfig::Kind::rotary},
                                                                           {"alibi", PositionConfig::Kind::alibi}}};
constexpr std::array<NamedChoice<RotaryScaling::Kind>, 5> scaling_kinds{{{"none", RotaryScaling::Kind::none},
                                                                         {"linear", RotaryScaling::Kind::linear},
                                                                         {"llama3", RotaryScaling::Kind::llama3},
                                                                         {"yarn", RotaryScaling::Kind::yarn},
                                                                         {"longrope", RotaryScaling::Kind::longrope}}};
constexpr std::array<NamedChoice<QkNormConfig::Kind>, 4> qk_norm_kinds{{{"none", QkNormConfig::Kind::none},
                                                                        {"head", QkNormConfig::Kind::head},
                                                                        {"own_head", QkNormConfig::Kind::own_head},
                                                                        {"whole", QkNormConfig::Kind::whole}}};
constexpr std::array<NamedChoice<Residual>, 3> residuals{{{"sequential", Residual::sequential},
                                                          {"parallel", Residual::parallel},
                                                          {"parallel_one_norm", Residual::parallel_one_norm}}};
constexpr std::array<NamedChoice<ops::RotaryLayout>, 2> rotary_layouts{
    {{"halves", ops::RotaryLayout::halves}, {"pairs", ops::RotaryLayout::pairs}}};
constexpr std::array<NamedChoice<ops::Activation>, 4> activations{{{"gelu_tanh", ops::Activation::gelu_tanh},
                                                                   {"gelu_erf", ops::Activation::gelu_erf},
                                                                   {"silu", ops::Activation::silu},
                                                                   {"relu", ops::Activation::relu}}};
constexpr std::array<NamedChoice<Place>, 16> places{{{"embedding", Place::embedding},
                                                     {"q", Place::q},
                                                     {"k", Place::k},
                                                     {"v", Place::v},
                                                     {"scores", Place::scores},
                                                     {"weights", Place::weights},
                                                     {"head_out", Place::head_out},
                                                     {"attn_out", Place::attn_out},
                                                     {"mlp_out", Place::mlp_out},
                                                     {"residual", Place::residual},
                                                     {"logits", Place::logits},
                                                     {"attn_in", Place::attn_in},
                                                     {"residual_mid", Place::residual_mid},
                                                     {"mlp_in", Place::mlp_in},
                                                     {"final_norm", Place::final_norm},
                                                     {"blend", Place::blend}}};

template <typename Choices, typename Choice>
std::string_view name_in(const Choices& choices, Choice wanted) {
  for (const auto& [name, choice] : choices)
    if (choice == wanted) return name;
  return "?";
}

template <typename Choices>
auto read(const Choices& choices, const JsonReader& reader, std::string_view key) {
  const auto found = reader.text(key);
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (name == found) return choice;
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
  }
  reader.fail(key, fmt::format("one of {}", names));
}

}  // namespace

std::string_view name_of(NormConfig::Kind kind) { return name_in(norm_kinds, kind); }
std::string_view name_of(PositionConfig::Kind kind) { return name_in(position_kinds, kind); }
std::string_view name_of(RotaryScaling::Kind kind) { return name_in(scaling_kinds, kind); }
std::string_view name_of(ops::RotaryLayout layout) { return name_in(rotary_layouts, layout); }
std::string_view name_of(QkNormConfig::Kind kind) { return name_in(qk_norm_kinds, kind); }
std::string_view name_of(Residual residual) { return name_in(residuals, residual); }
std::string_view name_of(ops::Activation activation) { return name_in(activations, activation); }
std::string_view name_of(Place place) { return name_in(places, place); }

NormConfig::Kind read_norm_kind(const JsonReader& r, std::string_view key) { return read(norm_kinds, r, key); }
PositionConfig::Kind read_position_kind(const JsonReader& r, std::string_view key) {
  return read(position_kinds, r, key);
}
RotaryScaling::Kind read_scaling_kind(const JsonReader& r, std::string_view key) { return read(scaling_kinds, r, key); }
QkNormConfig::Kind read_qk_norm_kind(const JsonReader& r, std::string_view key) { return read(qk_norm_kinds, r, key); }
Residual read_residual(const JsonReader& r, std::string_view key) { return read(residuals, r, key); }
ops::RotaryLayout read_rotary_layout(const JsonReader& r, std::string_view key) { return read(rotary_layouts, r, key); }
ops::Activation read_activation(const JsonReader& r, std::string_view key) { return read(activations, r, key); }

}  // namespace qkv
