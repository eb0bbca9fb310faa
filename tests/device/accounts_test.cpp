// The account of a run's devices over several processes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "allocator/emulated/cuda/model/machine.h"
#include "tests/sizes.h"

namespace hbmscope::device {
namespace {

struct AccountsTest : testing::Test {
  AccountsTest() {
    char pattern[] = "/tmp/hbmscope-accounts-XXXXXX";
    settings.report_folder = mkdtemp(pattern);
    path = settings.report_folder + "/" + accounts_file_name;
    settings.total_bytes = 1000 * mib;
    settings.context_bytes = 0;
    settings.device_count = 4;
    settings.visible_devices = {2};
    EXPECT_TRUE(Accounts::create(path));
  }
  ~AccountsTest() override { std::filesystem::remove_all(settings.report_folder); }

  // A process that takes memory on device 2 and holds it until it is killed. Returns when it has it.
  pid_t start_holder(Bytes bytes) const {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      Machine machine(settings);
      const char is_refused = machine.allocate(0, bytes).outcome == Outcome::ok ? 0 : 1;
      if (write(ends[1], &is_refused, 1) != 1) _exit(1);
      while (true) pause();
    }
    char is_refused = 2;
    EXPECT_EQ(read(ends[0], &is_refused, 1), 1);
    EXPECT_EQ(is_refused, 0);
    close(ends[0]);
    close(ends[1]);
    return pid;
  }

  Settings settings;
  std::string path;
};

TEST_F(AccountsTest, processes_share_a_device) {
  const pid_t holder = start_holder(600 * mib);
  Machine machine(settings);
  EXPECT_EQ(machine.device(0).ledger().free_bytes(), 400 * mib);
  EXPECT_EQ(machine.allocate(0, 500 * mib).outcome, Outcome::out_of_memory);
  EXPECT_EQ(machine.allocate(0, 300 * mib).outcome, Outcome::ok);
  EXPECT_EQ(machine.device(0).ledger().taken_bytes(), 300 * mib);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
}

TEST_F(AccountsTest, a_process_that_was_killed_holds_nothing_but_its_peak_is_known) {
  const pid_t holder = start_holder(600 * mib);
  kill(holder, SIGKILL);
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(holder), &ended, WEXITED | WNOWAIT);  // Nobody has waited for it: a zombie.
  Machine machine(settings);
  EXPECT_EQ(machine.allocate(0, 1000 * mib).outcome, Outcome::ok);
  const AccountsReport report = Accounts::open(path)->report();
  ASSERT_EQ(report.processes.size(), 2u);
  EXPECT_EQ(report.processes[0].pid, holder);
  EXPECT_EQ(report.processes[0].devices[2].peak_bytes, 600 * mib);
  EXPECT_EQ(report.peak_bytes[2], 1000 * mib);
  EXPECT_EQ(report.peak_bytes[0], 0u);
  waitpid(holder, nullptr, 0);
}

TEST_F(AccountsTest, a_refusal_stays_until_a_request_of_half_the_size_succeeds) {
  Machine machine(settings);
  const auto refused_bytes = [&] { return Accounts::open(path)->report().processes[0].devices[2].refused_bytes; };
  EXPECT_EQ(machine.allocate(0, 2000 * mib).outcome, Outcome::out_of_memory);
  EXPECT_EQ(machine.allocate(0, 10 * mib).outcome, Outcome::ok);
  EXPECT_EQ(refused_bytes(), 2000 * mib);
  EXPECT_EQ(machine.create_physical(0, 1200 * mib).outcome, Outcome::out_of_memory);
  EXPECT_EQ(machine.allocate(0, 900 * mib).outcome, Outcome::ok);
  EXPECT_EQ(refused_bytes(), 0u);
  EXPECT_EQ(Accounts::open(path)->report().processes[0].devices[2].refusals, 2u);
}

TEST_F(AccountsTest, a_pool_that_grows_by_less_than_it_tried_was_not_refused) {
  Machine machine(settings);
  ASSERT_EQ(machine.allocate(0, 990 * mib).outcome, Outcome::ok);
  EXPECT_EQ(machine.allocate_from_pool(machine.default_pool(0), 2 * mib).outcome, Outcome::ok);
  EXPECT_EQ(Accounts::open(path)->report().processes[0].devices[2].refusals, 0u);
}

TEST_F(AccountsTest, the_child_of_a_fork_takes_nothing) {
  Machine machine(settings);
  ASSERT_EQ(machine.allocate(0, 600 * mib).outcome, Outcome::ok);
  const pid_t child = fork();
  if (child == 0) {
    machine.allocate(0, 100 * mib);
    machine.device(0).ledger().give_back(600 * mib);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(Accounts::open(path)->taken_bytes(2), 600 * mib);
}

TEST_F(AccountsTest, reads_are_counted_by_process_and_place) {
  Accounts* accounts = Accounts::open(path);
  accounts->note_value_read(7, 8, true);
  accounts->note_value_read(7, 4, true);
  accounts->note_value_read(0, 4, true);
  accounts->note_value_read(0, mib, false);
  const pid_t child = fork();
  if (child == 0) {
    accounts->note_value_read(7, 8, true);  // The child of a fork can't use the devices.
    Accounts::open(path)->note_value_read(7, 16, true);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const AccountsReport report = accounts->report();
  ASSERT_EQ(report.reads.size(), 3u);
  EXPECT_EQ(report.reads[0].pid, getpid());
  EXPECT_EQ(report.reads[0].place, 7u);
  EXPECT_EQ(report.reads[0].count, 2u);
  EXPECT_EQ(report.reads[0].bytes_max, 8u);
  EXPECT_EQ(report.reads[1].place, 0u);
  EXPECT_EQ(report.reads[2].pid, child);
  EXPECT_EQ(report.reads[2].bytes_max, 16u);
  EXPECT_EQ(report.large_reads, 1u);
  for (std::uint32_t place = 10; place < 5000; ++place) accounts->note_value_read(place, 8, true);
  EXPECT_EQ(accounts->report().reads.size(), 2048u);
}

TEST_F(AccountsTest, a_file_of_something_else_is_no_account) {
  EXPECT_EQ(Accounts::open("/etc/passwd"), nullptr);
  EXPECT_EQ(Accounts::open(path + "-not"), nullptr);
  EXPECT_FALSE(Accounts::create(path));
}

}  // namespace
}  // namespace hbmscope::device
