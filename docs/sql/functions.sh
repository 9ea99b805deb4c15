# The functions of docs/operations.md, for bash and zsh. Name the environment: . docs/sql/functions.sh production
# With `local` they act on the local store.
STORE=$1

# Runs a file of this folder, for the animals with these ids: sql restore-pets 1,2
sql() {
  case "$2" in *[!0-9,]*) echo 'Write ids with commas, and without spaces.' >&2; return 2 ;; esac
  statement=$(sed "s/<ids>/$2/" "docs/sql/$1.sql") || return
  if [ "$STORE" = local ]; then set -- --local; else set -- --remote --env "$STORE"; fi
  npx wrangler d1 execute DB "$@" --config wrangler.toml --json --command="$statement"
}

# Prints the statements that a file generates: rows restore-pets 1,2
rows() { sql "$@" | node -p "JSON.parse(fs.readFileSync(0))[0].results.map((row) => row.sql).join('\n')"; }

# Prints the lines of an export that hold the animals with these ids, or all other lines: only 1,2 < backup.sql
only() { grep -E "^INSERT INTO \"pets\" [^)]*\) VALUES\((${1//,/|}),"; }
without() { grep -vE "^INSERT INTO \"pets\" [^)]*\) VALUES\((${1//,/|}),"; }
