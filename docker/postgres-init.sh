#!/bin/sh
# Runs once, when the database's volume is empty: the hub's two roles, its extensions, and the owner of its database.
# hub_owner migrates and keeps house; hub_app serves, under row-level security.
set -eu
owner_password=$(cat /run/secrets/hub_owner_password)
app_password=$(cat /run/secrets/hub_app_password)
# The passwords go in by the standard input, where no list of processes shows them.
psql --no-psqlrc -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<SQL
\\set owner_password '$owner_password'
\\set app_password '$app_password'
CREATE ROLE hub_owner LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOBYPASSRLS PASSWORD :'owner_password';
CREATE ROLE hub_app LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOBYPASSRLS PASSWORD :'app_password';
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
ALTER DATABASE :"DBNAME" OWNER TO hub_owner;
SQL
