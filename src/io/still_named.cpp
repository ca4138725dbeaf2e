#include "io/still_named.h"

#include <sys/stat.h>

namespace headscope {

bool still_named(int open_file, const std::string& name) {
    struct stat mine {};
    struct stat named {};
    return ::fstat(open_file, &mine) == 0 && ::stat(name.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
           mine.st_dev == named.st_dev;
}

}  // namespace headscope
