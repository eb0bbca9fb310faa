#include "allocator/emulated/accounts/tpu_account.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <new>

namespace hbmscope::allocator::tpu {
namespace {

constexpr const char* ending = ".tpu";

}  // namespace

TpuAccount& open_tpu_account(const std::string& folder) {
  static TpuAccount unread;
  if (folder.empty()) return unread;
  const std::string path = folder + "/" + std::to_string(getpid()) + ending;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return unread;
  void* mapped = MAP_FAILED;
  // Room now, or a full disk would end the host later.
  if (posix_fallocate(file, 0, sizeof(TpuAccount)) == 0)
    mapped = mmap(nullptr, sizeof(TpuAccount), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return unread;
  auto* account = new (mapped) TpuAccount;
  account->pid = getpid();
  return *account;
}

std::vector<TpuAccount> read_tpu_accounts(const std::string& folder) {
  std::vector<TpuAccount> accounts;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
    if (entry->path().extension() != ending) continue;
    std::ifstream file(entry->path(), std::ios::binary);
    TpuAccount account;
    if (file.read(reinterpret_cast<char*>(&account), sizeof(account)) && account.magic == TpuAccount::magic_now &&
        account.device_count <= account_devices_max)
      accounts.push_back(account);
  }
  return accounts;
}

}  // namespace hbmscope::allocator::tpu
