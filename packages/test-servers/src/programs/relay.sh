# Connects its input and output to a server in the shared process: relay.sh PORT JSON. Ends when its input ends, or when the server does.
exec 4<&0 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf '%s\n' "$2" >&3
/bin/cat <&3 &
# A shell gives what runs in the background no input: this one has a copy.
/bin/cat <&4 >&3 &
wait -n
kill $(jobs -p) 2> /dev/null
exit 0
