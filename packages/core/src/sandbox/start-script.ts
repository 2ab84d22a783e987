/** The script that starts a program in its sandbox, with the limits that hold there. */

import { insideFolder, insideScriptPath } from "./inside-script.ts";

/** How many processes and threads a sandbox may have. Root is exempt from this limit of the kernel. */
export const mostProcesses = 1000;

/**
 * Checks that the mounts in writable folders are what the host has looked at. Sets the limits inside of the user namespace,
 * where they count only the processes of this sandbox. Starts the process that leads programs other than Node to the proxy:
 * the shell waits until it listens.
 */
export const startScript: string = `refuse() {
  echo "$1 was replaced while the sandbox was made" >&2
  exit 126
}
check() (
  PATH=/usr/bin:/bin
  IFS='
'
  set -f
  mounts="
$(cut -d ' ' -f 5 /proc/self/mountinfo)
"
  mounts=$(printf %b. "$mounts")
  paths=
  expected=
  for line in $checks; do
    path=\${line#* }
    case $mounts in *"
$path
"*) ;; *) refuse "$path" ;; esac
    [ "\${line%% *}" = - ] && continue
    paths="$paths$path
"
    expected="$expected
$line"
  done
  [ -z "$paths" ] || [ "
$(stat -c '%d:%i %n' $paths)" = "$expected" ] || refuse "a file in a writable folder"
)
ulimit -c 0
ulimit -p ${mostProcesses} 2>/dev/null || ulimit -u ${mostProcesses} 2>/dev/null
node=$1
checks=$2
shift 2
[ -z "$checks" ] || check || exit
[ "$node" = - ] || : "$(NODE_OPTIONS= "$node" ${insideScriptPath} 2>/dev/null &)"
exec "$@"
`;
/** Where the sandbox shows the start script. Its arguments: the Node for the network or `-`, the mounts to check, the program, its arguments. */
export const insideStartPath: string = `${insideFolder}/start`;
