#!/usr/bin/env bash
# The result of cmake --install, for users and desktops.
# usage: install_test.sh HEADSCOPE-PROGRAM CMAKE (the program is in a complete build folder)
# shellcheck disable=SC2016,SC2317 # conditions expand later, called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/commands.sh"
build=$(dirname "$headscope")
prefix="$folder/a prefix"
id=org.headscope.Headscope
share=$prefix/share

here() { [ -s "$prefix/$1" ]; }
needs() { # TOOL PACKAGE
    command -v "$1" >/dev/null && return
    echo "SKIPPED: $1 is missing (${2})"
    return 1
}

for time in first second; do
    "$2" --install "$build" --prefix "$prefix" >out 2>err
    code=$?
    expect "installing a $time time succeeds" ended_with 0
done
headscope=$prefix/bin/headscope
expect "the program is installed" [ -x "$headscope" ]
for file in share/doc/headscope/LICENSE share/doc/headscope/LICENSE.fonts share/doc/headscope/README.md; do
    expect "$file is installed" here "$file"
done

for file in man/man1/headscope.1 man/man1/headscope-bench-train.1 bash-completion/completions/headscope \
    zsh/site-functions/_headscope fish/vendor_completions.d/headscope.fish; do
    expect "$file is installed" here "share/$file"
done

# Uses the installed model: there is no other near this folder.
echo 'The cat sleeps.' | run translate
expect "it translates with the installed model" eval 'ended_with 0 && says Katze'
mkdir -p assets/models/en-de && echo '{}' >assets/models/en-de/config.json
echo 'The cat sleeps.' | run translate
expect "even if the current folder has a model" eval 'ended_with 0 && says Katze'
rm -r assets
run view --text 'The cat sleeps.' --render heads.svg --panel heads
expect "it renders a panel without a window" eval 'ended_with 0 && [ "$(tail -n 1 heads.svg)" = "</svg>" ]'

# Other programs.
example=$repository/docs/examples/translate
"$headscope" translate <"$repository/assets/examples/everyday.en" >wanted
model=$prefix/share/headscope/models/en-de
"$2" -S "$example" -B example -DCMAKE_PREFIX_PATH="$prefix" >out 2>err && "$2" --build example >>out 2>>err
code=$?
expect "CMake builds a program with the installed engine" ended_with 0
example/translate "$model" <"$repository/assets/examples/everyday.en" >out 2>err
code=$?
expect "and it translates like headscope" eval 'ended_with 0 && cmp out wanted'
figure=$repository/docs/examples/attention
"$2" -S "$figure" -B figure -DCMAKE_PREFIX_PATH="$prefix" >out 2>err && "$2" --build figure >>out 2>>err
code=$?
expect "CMake builds a program with the installed figures" ended_with 0
draws() { # PROGRAM
    "$1" "$model" 'The cat sleeps.' >figure.svg 2>err
    code=$?
    expect "and it draws ($1)" eval 'ended_with 0 && [ "$(tail -n 1 figure.svg)" = "</svg>" ] && grep -q Katze err'
}
draws figure/attention
mkdir c_library
cat >c_library/CMakeLists.txt <<TEXT
cmake_minimum_required(VERSION 3.25)
project(translate C)
find_package(Headscope REQUIRED COMPONENTS c)
add_executable(translate "$repository/docs/examples/c/translate.c")
target_link_libraries(translate PRIVATE Headscope::c)
TEXT
"$2" -S c_library -B c_library -DCMAKE_PREFIX_PATH="$prefix" >out 2>err && "$2" --build c_library >>out 2>>err
code=$?
expect "CMake builds a program in C with the installed library" ended_with 0
c_library/translate 'The cat sleeps.' >out 2>err
code=$?
expect "which finds the installed model" eval 'ended_with 0 && says Katze'
if needs pkg-config pkg-config; then
    libraries=$(dirname "$(dirname "$(cd "$prefix" && find . -name headscope.pc)")")
    by_pkg_config() { # PREFIX
        PKG_CONFIG_PATH=$1/$libraries/pkgconfig
        export PKG_CONFIG_PATH
        eval "${CXX:-c++} $(pkg-config --cflags headscope) '$example/main.cpp' -o by_pkg_config $(pkg-config --libs headscope)" >out 2>err
        code=$?
        expect "a compiler builds it with pkg-config's flags in $1" ended_with 0
    }
    by_pkg_config "$prefix"
    eval "${CC:-cc} $(pkg-config --cflags libheadscope) '$repository/docs/examples/c/translate.c' -o in_c $(pkg-config --libs libheadscope)" >out 2>err
    code=$?
    expect "a compiler builds a program in C with pkg-config's flags" ended_with 0
    eval "${CXX:-c++} $(pkg-config --cflags headscope) '$figure/main.cpp' -o drawn $(pkg-config --libs headscope)" >out 2>err
    code=$?
    expect "a compiler builds a program that draws with pkg-config's flags" ended_with 0
    LD_LIBRARY_PATH=$prefix/$libraries draws ./drawn
    mv "$prefix" "$folder/moved"
    by_pkg_config "$folder/moved"
    mv "$folder/moved" "$prefix"
    # In the folders of other distributions.
    for lib in lib64 lib/x86_64-linux-gnu; do
        mkdir -p "$folder/other/$lib/pkgconfig"
        "$2" -DCMAKE_INSTALL_LIBDIR="$lib" -DCMAKE_INSTALL_INCLUDEDIR=include -DPROJECT_VERSION=1 -DPROJECT_DESCRIPTION=text \
            -DHEADSCOPE_PC_OUTPUT="$folder/other/$lib/pkgconfig/headscope.pc" -P "$repository/cmake/HeadscopePkgConfig.cmake" >out 2>err
        code=$?
        expect "headscope.pc is written for $lib" ended_with 0
        for place in other elsewhere; do
            [ "$place" = other ] || mv "$folder/other" "$folder/$place"
            found=$(PKG_CONFIG_PATH=$folder/$place/$lib/pkgconfig pkg-config --variable=libdir headscope)
            expect "libraries in $lib are found in $place" [ "$(realpath "$found")" = "$(realpath "$folder/$place/$lib")" ]
        done
        mv "$folder/elsewhere" "$folder/other"
    done
fi

if [ -x "$build/headscope-viewer" ]; then
    expect "the viewer is where headscope looks for it" [ -x "$prefix/libexec/headscope/headscope-viewer" ]
    code=0
    env -u DISPLAY -u WAYLAND_DISPLAY "$headscope" view >out 2>err || code=$?
    expect "it finds the model and reports the missing display" refused "display"
    for file in "applications/$id.desktop" "metainfo/$id.metainfo.xml" "mime/packages/$id.xml" \
        "icons/hicolor/scalable/apps/$id.svg" "icons/hicolor/256x256/apps/$id.png"; do
        expect "desktops find $file" here "share/$file"
    done
    if needs desktop-file-validate desktop-file-utils; then
        desktop-file-validate "$share/applications/$id.desktop" >out 2>err
        code=$?
        expect "the desktop entry is valid, without hints" eval 'ended_with 0 && [ ! -s out ] && [ ! -s err ]'
    fi
    if needs appstreamcli appstream; then
        appstreamcli validate --no-net --no-color "$share/metainfo/$id.metainfo.xml" >out 2>err
        code=$?
        # Allows only the warning of newer versions about the missing homepage.
        expect "the metadata for software centres is valid" \
            eval 'ended_with 0 || { grep -q "^W:.*url-homepage-missing" out && [ "$(grep -c "^[EW]:" out)" -eq 1 ]; }'
        version=$("$headscope" --version | awk '{ print $2 }')
        expect "the metadata has this version" grep -q "<release version=\"$version\"" "$share/metainfo/$id.metainfo.xml"
    fi
    if needs update-mime-database shared-mime-info; then
        XDG_DATA_DIRS=$share update-mime-database "$share/mime" >out 2>err
        code=$?
        expect "the file type of saved views is registered" grep -q ':application/x-headscope-view:\*\.headscope' "$share/mime/globs2"
        expect "without warnings" eval 'ended_with 0 && [ ! -s err ]'
    fi
else
    echo "SKIPPED: the viewer was not built"
    expect "there is no desktop entry without a viewer" not here "share/applications/$id.desktop"
fi

finish "the installation works"
