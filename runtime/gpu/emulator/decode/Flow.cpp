// Basic blocks, immediate post-dominators, and registers that may be read before they are written.
#include "runtime/gpu/emulator/decode/Flow.h"

#include <algorithm>

namespace nnterp::gpu::emulator {

std::string_view stem(const Instruction &instruction) {
  return instruction.opcode.substr(0, instruction.opcode.find('.'));
}

bool endsThreads(const Instruction &instruction) {
  const std::string_view name = stem(instruction);
  return name == "ret" || name == "exit" || name == "trap";
}

bool isPlainCopy(const Instruction &instruction) {
  return stem(instruction) == "mov" && instruction.operands.size() == 2 &&
         instruction.operands[0].form == Operand::reg && instruction.operands[1].form == Operand::reg;
}

bool isPack(const Instruction &instruction) {
  return stem(instruction) == "mov" && instruction.operands.size() == 2 &&
         instruction.operands[1].form == Operand::vector;
}

static void collect(const Operand &operand, std::vector<int> &registers) {
  if (operand.form == Operand::reg)
    registers.push_back(operand.id);
  for (const Operand &part : operand.parts)
    collect(part, registers);
}

Effects effects(const Instruction &instruction) {
  static constexpr std::string_view noResult[] = {
      "st",     "red",   "bra",      "brx",       "bar", "barrier",   "ret",   "exit",    "trap",
      "membar", "fence", "prefetch", "prefetchu", "cp",  "nanosleep", "brkpt", "discard", "applypriority"};
  const bool result = std::find(std::begin(noResult), std::end(noResult), stem(instruction)) == std::end(noResult) ||
                      instruction.opcode.substr(0, 7) == "bar.red";
  Effects found;
  for (size_t k = 0; k < instruction.operands.size(); ++k)
    collect(instruction.operands[k], k == 0 && result ? found.writes : found.reads);
  if (instruction.guard >= 0)
    found.reads.push_back(instruction.guard);
  return found;
}

namespace {

struct Block {
  int first, last; ///< instructions, the last one included
  std::vector<int> next, before;
};

class Analysis {
public:
  Analysis(const Kernel &kernel, const std::vector<std::vector<int>> &targets, Flow &flow)
      : kernel(kernel), targets(targets), flow(flow), count(int(kernel.code.size())) {}

  void run() {
    flow.join.assign(count, -1);
    flow.isJoin.assign(count + 1, false);
    flow.isLeader.assign(count + 1, false);
    flow.doubtful.assign(count, {});
    flow.tracked.assign(kernel.registers.size(), false);
    if (!count)
      return;
    makeBlocks();
    findJoins();
    for (const Instruction &instruction : kernel.code)
      all.push_back(effects(instruction));
    findDoubtful();
    findIntervals();
  }

private:
  void makeBlocks() {
    flow.isLeader[0] = true;
    for (int i = 0; i < count; ++i) {
      for (int target : targets[i])
        flow.isLeader[target] = true;
      if (!targets[i].empty() || endsThreads(kernel.code[i]))
        flow.isLeader[i + 1] = true;
    }
    blockOf.assign(count, 0);
    for (int i = 0; i < count; ++i) {
      if (flow.isLeader[i])
        blocks.push_back({i, i, {}, {}});
      blockOf[i] = int(blocks.size()) - 1;
      blocks.back().last = i;
    }
    for (int b = 0; b < int(blocks.size()); ++b) {
      const Instruction &last = kernel.code[blocks[b].last];
      for (int target : targets[blocks[b].last])
        if (target < count)
          blocks[b].next.push_back(blockOf[target]);
      // A guarded end of threads is no way out: those that go on meet as if the others were with them.
      const bool falls = endsThreads(last) ? last.guard >= 0 : targets[blocks[b].last].empty() || last.guard >= 0;
      if (falls && b + 1 < int(blocks.size()))
        blocks[b].next.push_back(b + 1);
      std::sort(blocks[b].next.begin(), blocks[b].next.end());
      blocks[b].next.erase(std::unique(blocks[b].next.begin(), blocks[b].next.end()), blocks[b].next.end());
      for (int next : blocks[b].next)
        blocks[next].before.push_back(b);
    }
  }

  /// Post-dominators by the iteration of Cooper, Harvey and Kennedy on the reversed graph with one exit.
  void findJoins() {
    const int exit = int(blocks.size());
    std::vector<int> order, number(exit + 1, -1), dominator(exit + 1, -1);
    std::vector<std::pair<int, size_t>> stack;
    const auto ends = [&](int b) { return blocks[b].next.empty(); };
    std::vector<int> roots;
    for (int b = 0; b < exit; ++b)
      if (ends(b))
        roots.push_back(b);
    const auto reversed = [&](int b) -> const std::vector<int> & { return b == exit ? roots : blocks[b].before; };
    std::vector<bool> seen(exit + 1, false);
    stack.push_back({exit, 0});
    seen[exit] = true;
    while (!stack.empty()) {
      auto &[b, at] = stack.back();
      if (at < reversed(b).size()) {
        const int next = reversed(b)[at++];
        if (!seen[next])
          seen[next] = true, stack.push_back({next, 0});
      } else {
        number[b] = int(order.size());
        order.push_back(b);
        stack.pop_back();
      }
    }
    dominator[exit] = exit;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = order.size(); k-- > 0;) {
        const int b = order[k];
        if (b == exit)
          continue;
        int found = ends(b) ? exit : -1;
        for (int next : blocks[b].next) {
          if (dominator[next] < 0)
            continue;
          int other = next;
          if (found < 0) {
            found = other;
            continue;
          }
          while (found != other) {
            while (number[found] < number[other])
              found = dominator[found];
            while (number[other] < number[found])
              other = dominator[other];
          }
        }
        if (found != dominator[b])
          dominator[b] = found, changed = true;
      }
    }
    for (int b = 0; b < exit; ++b) {
      const int last = blocks[b].last;
      if (targets[last].empty() || dominator[b] < 0 || dominator[b] == exit)
        continue;
      flow.join[last] = blocks[dominator[b]].first;
      flow.isJoin[flow.join[last]] = true;
    }
  }

  using Set = std::vector<uint64_t>;
  static bool contains(const Set &set, int id) { return set[id >> 6] >> (id & 63) & 1; }
  static void put(Set &set, int id, bool value) {
    set[id >> 6] = (set[id >> 6] & ~(uint64_t(1) << (id & 63))) | uint64_t(value) << (id & 63);
  }

  /// Follows the block; if `report`, notes the reads of what may be unwritten.
  void follow(const Block &block, Set &written, bool report) {
    for (int i = block.first; i <= block.last; ++i) {
      const Instruction &instruction = kernel.code[i];
      const Effects &effect = all[i];
      if (isPlainCopy(instruction)) {
        const int d = effect.writes[0], a = effect.reads[0];
        if (report && !contains(written, a))
          doubt(i, a);
        if (instruction.guard >= 0 && report && !contains(written, instruction.guard))
          doubt(i, instruction.guard);
        put(written, d, contains(written, a) && (instruction.guard < 0 || contains(written, d)));
        continue;
      }
      for (int read : effect.reads)
        if (report && !contains(written, read) && (!isPack(instruction) || read == instruction.guard))
          doubt(i, read);
      for (int write : effect.writes)
        if (instruction.guard < 0)
          put(written, write, true);
    }
  }

  void doubt(int instruction, int reg) {
    auto &list = flow.doubtful[instruction];
    if (std::find(list.begin(), list.end(), reg) == list.end())
      list.push_back(reg);
    flow.tracked[reg] = true;
  }

  void findDoubtful() {
    const size_t words = (kernel.registers.size() + 63) / 64;
    // What is surely written at the end of a block, along every path; everything, until a path is found.
    std::vector<Set> out(blocks.size(), Set(words, ~uint64_t(0)));
    const auto atEntry = [&](int b) {
      Set in(words, b == 0 ? 0 : ~uint64_t(0));
      for (int before : blocks[b].before)
        for (size_t k = 0; k < words; ++k)
          in[k] &= out[before][k];
      return in;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (int b = 0; b < int(blocks.size()); ++b) {
        Set set = atEntry(b);
        follow(blocks[b], set, false);
        if (set != out[b])
          out[b] = std::move(set), changed = true;
      }
    }
    for (int b = 0; b < int(blocks.size()); ++b) {
      Set set = atEntry(b);
      follow(blocks[b], set, true);
    }
    // A copy into a tracked register passes on whether there was a value, so its source is tracked too: it was doubtful
    // itself.
  }

  /// Backward through the block; a guarded write leaves the values of other lanes.
  void followBack(const Block &block, Set &needed, bool extend) {
    for (int i = block.last; i >= block.first; --i) {
      for (int write : all[i].writes) {
        if (extend)
          include(write, i);
        if (kernel.code[i].guard < 0)
          put(needed, write, false);
      }
      for (int read : all[i].reads) {
        if (extend)
          include(read, i);
        put(needed, read, true);
      }
    }
  }

  void include(int reg, int instruction) {
    Flow::Interval &interval = flow.live[reg];
    interval.first = interval.first < 0 ? instruction : std::min(interval.first, instruction);
    interval.last = std::max(interval.last, instruction);
  }

  void findIntervals() {
    flow.live.assign(kernel.registers.size(), {});
    const size_t words = (kernel.registers.size() + 63) / 64;
    std::vector<Set> in(blocks.size(), Set(words, 0));
    const auto atEnd = [&](const Block &block) {
      Set out(words, 0);
      for (int next : block.next)
        for (size_t k = 0; k < words; ++k)
          out[k] |= in[next][k];
      return out;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (int b = int(blocks.size()) - 1; b >= 0; --b) {
        Set set = atEnd(blocks[b]);
        followBack(blocks[b], set, false);
        if (set != in[b])
          in[b] = std::move(set), changed = true;
      }
    }
    const auto includeAll = [&](const Set &set, int instruction) {
      for (size_t k = 0; k < words; ++k)
        for (uint64_t left = set[k]; left; left &= left - 1)
          include(int(64 * k) + __builtin_ctzll(left), instruction);
    };
    for (size_t b = 0; b < blocks.size(); ++b) {
      Set out = atEnd(blocks[b]);
      includeAll(in[b], blocks[b].first);
      includeAll(out, blocks[b].last);
      followBack(blocks[b], out, true);
    }
  }

  const Kernel &kernel;
  const std::vector<std::vector<int>> &targets;
  Flow &flow;
  const int count;
  std::vector<Block> blocks;
  std::vector<int> blockOf;
  std::vector<Effects> all;
};

} // namespace

Flow analyse(const Kernel &kernel, const std::vector<std::vector<int>> &targets) {
  Flow flow;
  Analysis(kernel, targets, flow).run();
  return flow;
}

} // namespace nnterp::gpu::emulator
