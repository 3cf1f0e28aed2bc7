#pragma once

namespace qkv::app {

/// From now on Ctrl-C (SIGINT) and SIGTERM only ask to stop, once: a second one ends the process as usual.
void catch_interrupts();
[[nodiscard]] bool was_interrupted();

/// Ends a command that was interrupted before its result was complete, so that nothing of it is left.
struct Interrupted {};
void stop_if_interrupted();

}  // namespace qkv::app
