# shellcheck shell=bash
# Reads a command line before anything is installed, downloaded or built for it. eng/help has a page for each
# command, which the programs print for --help; the options and their values are read from these pages.

# check_arguments ARGUMENT...: prints help if that is requested, and stops at an unknown command, option or value.
check_arguments() {
  local page=billing
  while (($#)) && [[ -f $BILLING_ROOT/eng/help/$page-$1.txt ]]; do
    page+="-$1"
    shift
  done
  if wants_help "$@"; then
    cat -- "$BILLING_ROOT/eng/help/$page.txt"
    exit 0
  fi
  check_command "$@"
  declare -A takes=()
  read_options
  check_options "$@"
}

# The caller's page as a command line.
named_command() { printf './%s' "${page//-/ }" | sed 's/dead letters/dead-letters/'; }

# section NAME: the lines of a section of the caller's page.
section() { sed -n "/^$1:\$/,/^\$/{/^  /p}" "$BILLING_ROOT/eng/help/$page.txt"; }

# A command with subcommands needs one of them.
check_command() {
  local there
  there=$(section Commands | awk '{ print $1 }')
  [[ -n $there && ${1:-} != --version ]] || return 0
  (($#)) || {
    cat -- "$BILLING_ROOT/eng/help/$page.txt"
    die "$(named_command) needs a command: ${there//$'\n'/, }"
  }
  die "$(named_command) has no command '$1'; it has ${there//$'\n'/, }"
}

# joined_names NAME...: the long ones, in order.
joined_names() { printf '%s\n' "$@" | grep '^--' | LC_ALL=C sort | paste -s -d , | sed 's/,/, /g'; }

# Sets the caller's `takes`: the value that each option takes, or nothing.
read_options() {
  local line name value
  while IFS= read -r line; do
    line=${line#  }
    line=${line%%  *}
    value=
    [[ $line != *' <'* ]] || value=${line##* }
    for name in ${line%% <*}; do
      takes[${name%,}]=$value
    done
  done < <(section Options)
}

# check_options ARGUMENT...: arguments that are passed on to another program are not checked.
check_options() {
  local name value
  [[ -z $(section 'Additional Arguments') ]] || return 0
  while (($#)); do
    case $1 in
      --) return ;;
      -[!0-9]*)
        name=${1%%[=:]*}
        [[ -n ${takes[$name]+there} ]] || die "$(named_command) has no option $name; it has $(joined_names "${!takes[@]}")"
        if [[ -n ${takes[$name]} ]]; then
          if [[ $1 == "$name" ]]; then
            (($# > 1)) || die "$name needs a value: ${takes[$name]}"
            value=$2
            shift
          else
            value=${1#"$name"?}
          fi
          check_value "$name" "${takes[$name]}" "$value"
        fi
        ;;
      *) [[ -n $(section Arguments) ]] || die "$(named_command) takes no argument '$1'" ;;
    esac
    shift
  done
}

# check_value OPTION FORM VALUE: checks numbers and choices; the program checks bounds and everything else.
check_value() {
  case $2 in
    '<N>') [[ $3 =~ ^-?[0-9]+$ ]] || die "$1 takes a whole number; it is '$3'" ;;
    *[A-Z0-9]*) ;;
    '<'*'|'*'>')
      [[ "|${2//[<>]/}|" == *"|$3|"* ]] || die "$1 takes one of ${2//[<>]/}; it is '$3'"
      ;;
  esac
}
