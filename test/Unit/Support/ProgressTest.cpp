//===- ProgressTest.cpp - What is seen of work that takes long ------------===//

#include "autopar/Support/Progress.h"
#include "gtest/gtest.h"
#include <unistd.h>

using namespace autopar;

namespace {

/// What is written into a pipe while `work` goes on.
template <typename Work>
std::string shown(bool isTerminal, double first, const Work &work) {
  int ends[2];
  if (pipe(ends) != 0)
    return "no pipe";
  {
    Progress::Options options;
    options.descriptor = ends[1];
    options.isTerminal = isTerminal;
    options.first = first;
    options.redraw = options.again = 3600;
    Progress progress({"import", "plan", "lower", "executable"}, options);
    work(progress);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  ssize_t count = read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(count > 0 ? size_t(count) : 0);
  return text;
}

void sleepTenth() { usleep(100000); }

TEST(Progress, ShortWorkIsSilent) {
  EXPECT_EQ(shown(false, 3600, [](Progress &progress) { progress.begin(1); }),
            "");
  EXPECT_EQ(shown(true, 3600, [](Progress &progress) { progress.pause(); }),
            "");
}

TEST(Progress, LinesNameThePart) {
  EXPECT_EQ(shown(false, .01,
                  [](Progress &progress) {
                    progress.begin(1);
                    sleepTenth();
                  }),
            "autopar: plan       ... 0 s\n");
}

TEST(Progress, ABarIsTakenAwayForOtherText) {
  const std::string bar = "\r[============            ] lower 0 s\033[K";
  const std::string gone = "\r\033[K";
  EXPECT_EQ(shown(true, .01,
                  [](Progress &progress) {
                    progress.begin(2);
                    sleepTenth();
                  }),
            bar + gone);
  EXPECT_EQ(shown(true, .01,
                  [](Progress &progress) {
                    progress.begin(2);
                    sleepTenth();
                    progress.pause();
                    progress.pause();
                  }),
            bar + gone);
}

} // namespace
