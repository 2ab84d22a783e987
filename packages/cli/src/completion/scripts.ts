/**
 * The completion scripts for the shells. They call `fairlead __complete` at every Tab, and never run or expand its
 * output.
 */

/** The shells that Fairlead has a completion script for. */
export const shells = ["bash", "zsh", "fish"] as const;
/** The name of a supported shell. */
export type Shell = (typeof shells)[number];

/** A line that marks a script as written by Fairlead. */
export const scriptSignature = "Tab completion for fairlead; written by: fairlead completion";

/** The script for bash. It calls `fairlead` by name, so that `fairlead` may also be a shell function. */
const bash = `# ${scriptSignature} bash
_fairlead() {
  local line kind
  COMPREPLY=()
  {
    IFS= read -r kind
    while IFS= read -r line; do COMPREPLY+=("$line"); done
  } < <(fairlead __complete bash "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  case $kind in
    open) compopt -o nospace 2>/dev/null ;;
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
  esac
}
complete -F _fairlead fairlead
`;

const zsh = `#compdef fairlead
# ${scriptSignature} zsh
_fairlead() {
  local line kind value about
  local -a lines values shown openValues openShown
  local -i width=0
  lines=("\${(@f)$(fairlead __complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  kind=\${lines[1]%%$'\\t'*}
  if [[ $kind == (files|folders) ]]; then
    # Skips the text before the path in the same word: --option=, key=@ or key:=@.
    if [[ $lines[1] == *$'\\t'?* ]]; then
      compset -P 1 '*='
      compset -P '@'
    fi
    if [[ $kind == folders ]]; then _path_files -/; else _files; fi
    return
  fi
  shift lines
  for line in $lines; do
    value=\${\${line#?}%%$'\\t'*}
    (( \${#value} > width && \${#value} <= 40 )) && width=\${#value}
  done
  for line in $lines; do
    value=\${\${line#?}%%$'\\t'*}
    about=\${line#*$'\\t'}
    if [[ -n $about ]]; then
      (( \${#value} < width )) && about="\${(l:width-\${#value}:)}  -- $about" || about="  -- $about"
    fi
    if [[ $line == +* ]]; then
      openValues+=("$value") openShown+=("$value$about")
    else
      values+=("$value") shown+=("$value$about")
    fi
  done
  local -i code=1
  (( \${#openValues} )) && compadd -V open -l -d openShown -S '' -a openValues && code=0
  (( \${#values} )) && compadd -V words -l -d shown -a values && code=0
  return code
}
# compinit runs this file as the function _fairlead; a startup file only registers the function.
if [[ $funcstack[1] == _fairlead ]]; then
  _fairlead "$@"
elif (( $+functions[compdef] )); then
  compdef _fairlead fairlead
fi
`;

const fish = `# ${scriptSignature} fish
function __fairlead_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l raw (commandline -ct)
    set -l current (string unescape -- "$raw"; or string unescape -- "$raw'"; or string unescape -- "$raw\\""; or echo "$raw")
    set -l lines (fairlead __complete fish $words "$current" 2>/dev/null </dev/null)
    set -l kind (string split -m 1 \\t -- "$lines[1]")
    switch "$kind[1]"
        case words
            set -e lines[1]
            set -q lines[1]; and printf '%s\\n' $lines
        case files folders
            # Fish completes files for a command that it does not know.
            set -l path (string replace -- "$kind[2]" '' "$raw")
            set -l paths (complete -C "__fairlead_no_such_command $path")
            test "$kind[1]" = folders; and set paths (string match -r '.*/(?:\\t.*)?$' -- $paths)
            set -q paths[1]; and printf '%s\\n' "$kind[2]"$paths
    end
end
complete -c fairlead -f -k -a '(__fairlead_complete)'
`;

/** The completion script for each shell. */
export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
