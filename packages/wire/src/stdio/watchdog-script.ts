/** The watchdog's scripts: they wait until the host's pipe closes, then end the servers that still run. */

/**
 * For a POSIX shell, which needs 1 MB of memory where Node needs 40. Arguments: the tag prefix, and the tenths of a
 * second between SIGTERM and SIGKILL. Input lines: `busy`, `idle`, `+ group` and `- group`.
 * A group is ended only if it is still the registered one: its leader has the same start time, or a member has the tag.
 * Without `/proc` (macOS) this cannot be checked.
 */
export const shellWatchdog = `
prefix=$1 tenths=$2 busy= groups=' '
trap '' HUP INT TERM

# Sets start and group of process $1; empty when it is gone.
look() {
  start= group=
  { IFS= read -r stat < "/proc/$1/stat"; } 2> /dev/null || return 0
  set -- \${stat##*) }
  group=$3 start=\${20}
}

while read -r word leader; do
  case $word in
    busy) busy=1 ;;
    idle) busy= ;;
    +) look "$leader"; groups="$groups$leader:$start " ;;
    -) case $groups in *" $leader:"*)
        rest=\${groups#*" $leader:"}
        groups="\${groups%%" $leader:"*} \${rest#* }" ;;
      esac ;;
  esac
done
[ -n "$busy" ] || exit 0

# Living processes with the tag. Some greps stop at the first NUL of a line.
if printf 'a\\0b' | grep -qF b; then
  tagged() { grep -lsF -e "$prefix" /proc/[0-9]*/environ; }
else
  tagged() {
    for file in /proc/[0-9]*/environ; do
      { tr '\\0' '\\n' < "$file" | grep -qF -e "$prefix" && echo "$file"; } 2> /dev/null
    done
  }
fi

# Sends signal $1 to everything that is left; left is empty when there was nothing.
signal() {
  left= ours=' '
  for file in $(tagged); do
    pid=\${file#/proc/} pid=\${pid%/environ}
    look "$pid"
    case $groups in
      *" $group:"*) ours="$ours$group " ;;
      *) kill "-$1" "$pid" 2> /dev/null && left=1 ;;
    esac
  done
  for entry in $groups; do
    leader=\${entry%%:*}
    look "$leader"
    if [ ! -e /proc/self/stat ]; then
      ours="$ours$leader "
    elif [ -n "$start" ] && [ "$start" = "\${entry#*:}" ]; then
      ours="$ours$leader "
    fi
    case $ours in *" $leader "*) kill "-$1" "-$leader" 2> /dev/null && left=1 ;; esac
  done
}

signal TERM
while [ -n "$left" ] && [ "$tenths" -gt 0 ]; do
  sleep 0.1
  tenths=$((tenths - 1))
  signal 0
done
tries=50
while [ -n "$left" ] && [ "$tries" -gt 0 ]; do
  signal KILL
  sleep 0.1
  tries=$((tries - 1))
done
`;

/** Like `shellWatchdog`, but for Node, where there is no shell; finds processes by group only. */
export const nodeWatchdog = `
const groups = new Set();
const signal = (name) => { for (const group of groups) try { process.kill(-group, name); } catch { groups.delete(group); } };
let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const [word, group] of lines.map((line) => line.split(" "))) {
    if (word === "+") groups.add(Number(group));
    if (word === "-") groups.delete(Number(group));
  }
}).on("end", () => {
  signal("SIGTERM");
  setTimeout(signal, process.argv[2] * 100, "SIGKILL");
});
for (const name of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(name, () => {});
`;
