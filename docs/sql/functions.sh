# The functions of docs/operations.md, for bash and zsh. Name the environment: . docs/sql/functions.sh production
# With `local` they act on the local store.
STORE=$1

# Runs a file of this folder, for the animals with these ids: sql restore-pets 1,2
sql() {
  check_ids "$2" || return
  statement=$(sed "s/<ids>/$2/" "docs/sql/$1.sql") || return
  if [ "$STORE" = local ]; then set -- --local; else set -- --remote --env "$STORE"; fi
  npx wrangler d1 execute DB "$@" --config wrangler.toml --json --command="$statement"
}

check_ids() {
  case "$1" in *[!0-9,]*) echo 'Write ids with commas, and without spaces.' >&2; return 2 ;; esac
}

# Prints the statements that a file generates: rows restore-pets 1,2
rows() { sql "$@" | node -p "JSON.parse(fs.readFileSync(0))[0].results.map((row) => row.sql).join('\n')"; }

# Prints the lines of an export that hold the animals with these ids: only 1,2 < backup.sql
only() { check_ids "$1" && grep -E "^INSERT INTO \"pets\" [^)]*\) VALUES\((${1//,/|}),"; }

# Prints an export, with the lines of another file in place of its own for the same rows: exactly exact.sql < backup.sql
exactly() {
  awk 'match($0, /^INSERT INTO "[a-z_]+" [^)]*\) VALUES\([0-9]+,/) {
      row = substr($0, 1, RLENGTH)
      # Without the columns: the table and the id.
      sub(/\(.*\(/, "", row)
      if (FILENAME == ARGV[1]) exact[row] = $0
      if (row in exact) $0 = exact[row]
    }
    FILENAME != ARGV[1]' "$1" -
}
