// Linked into sanitized programs: no library is ever unloaded. What a closed one has leaked belongs to "<unknown
// module>", which leaks.txt cannot name.
extern "C" int dlclose(void* /*library*/) {
    return 0;
}
