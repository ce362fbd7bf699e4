package main

// manual is the hand-written part of a command's manual page; the rest comes from the flags.
type manual struct {
	description string // paragraphs separated by blank lines
	rows        bool   // sends rows, some of which may be rejected
	items       bool   // changes items, some of which may fail
	examples    []usageExample
}

type usageExample struct{ what, command string }

const aboutKeys = `

Keep the API key in a file that only you can read, and name it with --key-file or BELFRY_KEY_FILE. A key on the command
line is visible to everyone who can list the processes of the machine. The key is never printed.`

const aboutParts = `

A file is split between rows and sent in requests of --rows rows and at most 8 MiB, one after the other. Do not change
--rows between an interrupted run and the next, because then the requests would differ.` + aboutResume

const aboutResume = `

While the server is unreachable or answers with status 429 or 503, the same request is retried for the time of --retry.
Any other error ends the command.

Every request has an Idempotency-Key that is computed from the file, the part and the request. So an interrupted command
can be repeated with the same options within 24 hours: the server returns the stored answers for the parts that it has
processed, and applies nothing twice. For the same reason, sending the same file again on purpose has no effect without
--fresh. For standard input or a pipe, this protection only works within one run.`

const aboutRejects = `

Rejected rows do not affect the others. The first twenty are listed on standard error with their lines in the file, and
all are written unchanged, with the header, to FILE.rejected.csv: correct them there and send that file. When nothing is
rejected, a file of that name from an earlier run is removed. With --atomic or --dryrun, nothing of a file with wrong
rows is applied, and no such file is written.`

const aboutFiles = `

Files compressed with gzip or zstd are recognised and decompressed. Columns, quoting and the rest of the content are
checked by the server.`

const aboutItems = `

Items are looked up by name among those of --kind first, then among the others. The command prints a line for each, and
failures on standard error.`

// manuals has a text for every command, by its path.
var manuals = map[string]manual{
	"": {
		description: `Belfry is a monitoring service with a REST API. This program is the service itself (serve), the tools for its keys, users and
customers, which work on the folder of the service, and a client for any server (send, provision, remove, export, sql,
explain, ack, note, unmanage, manage, windows).

Run a command with --help for a summary, and "belfry manual COMMAND" for its manual page.`,
		rows: true,
		examples: []usageExample{
			{"Serve on this machine from the folder belfry-data:", "belfry serve"},
			{"Create a key and send a file with it:", "belfry key create --name loader --level readwrite > loader.key\nbelfry send --key-file loader.key rows.csv"},
			{"Read the manual page of a command:", "belfry manual send"},
		},
	},
	"serve": {
		description: `Runs the service until SIGTERM or SIGINT; it then finishes the requests that it has accepted. SIGHUP reloads the
configuration. The first start creates the customer "default" and the user "admin", and prints that user's password once.

With --demo it fills that customer with sample data: sites on a map, about three hundred objects, the last day of
their values, and new values every few seconds, with incidents and operators who handle them. A folder with other data is
refused; one with sample data continues while --demo is given.`,
		examples: []usageExample{
			{"Look around in sample data:", "belfry serve --demo --data demo-data"},
			{"Serve other machines, with TLS:", "belfry serve --data /var/lib/belfry --listen :8443 --tls-cert cert.pem --tls-key key.pem"},
		},
	},
	"key": {
		description: `Keys let programs use the API. These commands work on the folder of a service on this machine, whether it runs or not.`,
		examples:    []usageExample{{"List the keys:", "belfry key list"}},
	},
	"key create": {
		description: `Creates a key and prints it on a separate line. The service stores only its digest, so it cannot be shown again.`,
		examples: []usageExample{
			{"A key for three months, straight into a file:", "belfry key create --name loader --level readwrite --expires 90d > loader.key"},
			{"A key that sends from one network and reads nothing:", "belfry key create --name agents --level readwrite --only send --addresses 10.0.0.0/8"},
		},
	},
	"key list": {
		description: `Prints name, level, last characters, creation, expiry, last use, creator and restrictions of every key of a customer. Old secrets
that are still accepted after a rotation have a separate line.`,
		examples: []usageExample{{"The keys of another customer:", "belfry key list --customer acme"}},
	},
	"key rotate": {
		description: `Replaces the secret of a key and prints it on a separate line. Level and restrictions do not change. The old secret is accepted until
the overlap ends, and belfry key list shows when it was last used.`,
		examples: []usageExample{{"Replace the secret; the old one is accepted for a week:", "belfry key rotate --name loader --overlap 7d > loader.key"}},
	},
	"key revoke": {
		description: `Revokes a key. A running service refuses it at once.`,
		examples:    []usageExample{{"Revoke a key:", "belfry key revoke --name loader"}},
	},
	"user": {
		description: `Users log in to the web interface. These commands work on the folder of a service on this machine, whether it runs or not.`,
		examples:    []usageExample{{"List the users:", "belfry user list"}},
	},
	"user create": {
		description: `Creates a user and prints a random password on a separate line. A password in the variable BELFRY_USER_PASSWORD is used
instead, and not printed.`,
		examples: []usageExample{{"A user who may view but not change anything:", "belfry user create --name ada --role viewer"}},
	},
	"user list": {
		description: `Prints the users of a customer, without anything secret.`,
		examples:    []usageExample{{"The users of another customer:", "belfry user list --customer acme"}},
	},
	"user change": {
		description: `Limits a user to some views or resources of the customer and their content, or removes the limit with --all-views.
All sessions of the user end.`,
		examples: []usageExample{{"A user who sees two views and nothing else:", "belfry user change --name ada --views Paris --views \"Data centre\""}},
	},
	"user password": {
		description: `Sets a new random password and prints it on a separate line; all sessions of the user end. A password in the
variable BELFRY_USER_PASSWORD is used instead, and not printed.`,
		examples: []usageExample{{"Set a new password:", "belfry user password --name ada"}},
	},
	"user remove": {
		description: `Removes a user. A running service ends the user's sessions at once.`,
		examples:    []usageExample{{"Remove a user:", "belfry user remove --name ada"}},
	},
	"customer": {
		description: `Customers share a service and see nothing of each other. These commands work on the folder of a service on this machine,
whether it runs or not.`,
		examples: []usageExample{{"List the customers:", "belfry customer list"}},
	},
	"customer create": {
		description: `Creates a customer. Create keys for it with "belfry key create --customer".`,
		examples:    []usageExample{{"Create a customer:", "belfry customer create --name acme"}},
	},
	"customer list": {
		description: `Prints name and creation of every customer, and what it may listen on.`,
		examples:    []usageExample{{"List the customers:", "belfry customer list"}},
	},
	"customer grant": {
		description: `Lets receivers of a customer listen on an address and a port, or a range of ports, for UDP and TCP. 0.0.0.0, [::] or no address
means every address of the machine. A port belongs to one customer, so grants of two customers do not overlap. The
customer default may listen everywhere without a grant.`,
		examples: []usageExample{{"Seven ports on every address:", "belfry customer grant --name acme --listen 0.0.0.0:5514-5520"}},
	},
	"customer revoke": {
		description: `Revokes a grant, as shown by "belfry customer list". Receivers that listen there are switched off until it is granted
again.`,
		examples: []usageExample{{"Revoke a grant:", "belfry customer revoke --name acme --listen 0.0.0.0:5514-5520"}},
	},
	"clock": {
		description: `The service deletes nothing while its clock is more than a day off the expected time. This command works on the
folder of a service on this machine, whether it runs or not.`,
		examples: []usageExample{{"Confirm the clock:", "belfry clock confirm"}},
	},
	"clock confirm": {
		description: `Confirms that the clock of this machine is right, and ends the fault "clock". Rows older than their retention by this
clock are then removed, so check the clock first.`,
		examples: []usageExample{{"Check the clock, then confirm it:", "belfry clock confirm --data /var/lib/belfry"}},
	},
	"fault": {
		description: `Some faults stay open until an administrator confirms them. This command works on the folder of a service on this
machine, whether it runs or not.`,
		examples: []usageExample{{"Confirm that rows are lost:", "belfry fault confirm journal_loss"}},
	},
	"fault confirm": {
		description: `Ends the fault "journal_loss": queries over the time in which rows may be missing are accepted again, and return what is there.
"clock" is the same as "belfry clock confirm". Other faults end with their cause.`,
		examples: []usageExample{{"Confirm that rows are lost:", "belfry fault confirm journal_loss --data /var/lib/belfry"}},
	},
	"backup": {
		description: `Makes a backup of everything in the data folder, while the service runs or while it is stopped, and prints the folder of the
backup. It is complete up to one position of the journal: what was acknowledged by then is in it, once.

TARGET is a folder that holds backups, each in a folder named by the time at which it began, in UTC. Files that have not changed since
the last backup in it become hard links, so each backup is complete by itself and can be deleted by itself. With - the backup is
written to standard output as a tar stream; one without its last file, backup.json, is incomplete.

The key file that encrypts secrets of receivers, private keys of TLS and the configuration are not in a backup. While a backup runs,
retention and the removal of customers wait.

Exit status: 0 when the backup is complete, 4 when it is complete except for files that could not be read, which are listed, 1 when it
failed.`,
		examples: []usageExample{
			{"Make a backup on another disk:", "belfry backup --data /var/lib/belfry /mnt/backups"},
			{"Send one to another machine:", "belfry backup --data /var/lib/belfry - | ssh vault 'cat >belfry.tar'"},
			{"Create a key pair for encrypted backups:", "belfry backup --new-key private.key"},
		},
	},
	"restore": {
		description: `Restores a backup into an empty data folder, and into the folders for rows and metadata that the configuration names. Everything is
checked before it is used; a backup that is damaged or from which files are missing is refused with their names. After an interruption
the service refuses to start from the folder: run the same command again.

With --collection, rows of the backup are added to the running service: those that it lacks, recognized by customer and id. Rows of
removed customers and of days that retention has deleted are not added.`,
		examples: []usageExample{
			{"Restore the newest backup of a folder:", "belfry restore --data /var/lib/belfry /mnt/backups"},
			{"Bring one day back into the running service:", "belfry restore --data /var/lib/belfry --collection objectdata --day 2026-11-15 /mnt/backups"},
		},
	},
	"verify": {
		description: `Reads every file in the folder of a stopped service, rows, metadata and journal, to its last block, and lists what is damaged or
missing and what to do about it. It moves and deletes nothing. --json prints an object with the number of files read and the list
of problems, each with collection, day, file, problem and remedy. Confirmed losses in the journal are not problems; they are
listed under "known" as long as their segment exists.

Exit status: 0 when nothing is wrong, 4 when there are problems, 1 when the folder could not be read, for example because a service
is using it. A running service reports its own faults in GET /api/health and as events.`,
		examples: []usageExample{
			{"Check a folder before the service starts:", "belfry verify --data /var/lib/belfry"},
			{"For a script:", "belfry verify --json --data /var/lib/belfry > problems.json"},
		},
	},
	"check": {
		description: `Reads the configuration as serve would, and prints its errors, or the configuration with all defaults.`,
		examples:    []usageExample{{"Check a file before the service reads it:", "belfry check --config belfry.yaml"}},
	},
	"send": {
		description: `Sends rows of indicator values, log lines and views, or with --collection rows of another collection, to POST /api/send. It prints
a line with the totals on standard output, and problems on standard error.` + aboutParts + aboutRejects + aboutFiles + aboutKeys,
		rows: true,
		examples: []usageExample{
			{"Send a file:", "belfry send --key-file loader.key rows.csv"},
			{"Send the rejected rows again, after correcting them:", "belfry send --key-file loader.key rows.csv.rejected.csv"},
			{"See what would happen:", "belfry send --dryrun rows.csv.gz"},
			{"Send the output of another program to a server elsewhere:", "collect-rows | belfry send --url https://belfry.example.org --ca ca.pem -"},
		},
	},
	"provision": {
		description: `Creates or changes items of a package from a file with a row for each item and a column for each question of the
package.

With --dir, a folder made by "belfry export --dir" is sent: the classes and pictures that its file files.csv lists, then the
files of rows in the order of their names. Rejected rows in one file do not prevent the next from being sent. With --dryrun
each file of rows is checked separately, against the current items of the server.

Classes and pictures that the server already has are not sent. To send others, the key needs the level readwritedelete.
If one is rejected, it is listed and no rows are sent: objects would get classes inferred from their first values.
Nor is anything sent if a row has *** in place of a secret that the server does not have.` + aboutParts + aboutRejects + aboutFiles + aboutKeys,
		rows: true,
		examples: []usageExample{
			{"Create resources:", "belfry provision network-ping hosts.csv"},
			{"All rows or none:", "belfry provision --atomic view views.csv"},
			{"Rebuild what was exported, on another server:", "belfry provision --url https://new.example.org --dir inventory"},
		},
	},
	"remove": {
		description: `Removes the items of a package that are listed in a file. A row has a name, or a name and the view that the item must be in,
or * and a view for everything of the package directly in that view. The only other column is resname, for objects and views inside
resources; remove other columns of an export first. Views with content are only removed with --recursive. The history of removed
items is kept. The key needs the level readwritedelete.

A removal cannot be undone, so try --dryrun first.

The file is sent in requests of a hundred rows, one after the other.` + aboutResume + aboutRejects + aboutKeys,
		rows: true,
		examples: []usageExample{
			{"See what would be removed:", "belfry remove --dryrun network-ping old-hosts.csv"},
			{"Remove views with everything in them:", "belfry remove --recursive view old-views.csv"},
		},
	},
	"export": {
		description: `Writes the items of a package as CSV for "belfry provision". Without a package, it writes to the folder of --dir a file for
each package that has items: 10-view.csv has the views of the customer, then come resources (20), views inside
resources (30), objects (40) and graphical elements (50). The customer's own classes and the pictures are in the folders
classes and pictures; files.csv maps the files to their names. "belfry provision --dir" creates all of it in one pass, also on
an empty server. Files of items that were removed from the server are removed from the folder; files that no export wrote stay.

Links and shortcuts with a removed end are left out, and their number is printed on standard error. With --broken only these
are written, as input for "belfry remove".

Secrets are exported as ***. Provisioned to the same server, *** leaves them unchanged; for another server, fill them in.` + aboutKeys,
		examples: []usageExample{
			{"One package into a file:", "belfry export network-ping -o hosts.csv"},
			{"Everything, for version control:", "belfry export --dir inventory"},
			{"Remove the links with a removed end:", "belfry export link --broken -o lost.csv\nbelfry remove link lost.csv"},
			{"List the packages:", "belfry export --list"},
		},
	},
	"sql": {
		description: `Runs a query with POST /api/sql and prints the result. On a terminal it is a table, cut to the width of the terminal, with
the status in colour unless NO_COLOR is set. In a file or a pipe it is CSV. --format selects another format; json and ndjson
are the unchanged response of the server.

Without --rows or LIMIT the first ten rows are shown, with a note if there are more. A historical collection needs a
time span (--span, --from, --to, or a condition on timestamp) or a number of rows.

With --all every row is written, as CSV unless --format is json or ndjson. The rows are read in pages, without gaps or
duplicates even if new rows arrive during the query. A span without an end ends when the command starts. A result that has no
pages, such as groups or an order other than by time, fails if it is longer than one page.

A query over a day whose file is damaged or missing is refused. With --partial the result leaves out such days, and they
are listed on standard error.

If the query has a syntax error, its line is shown with a mark below the position.

With --watch the query is repeated until Ctrl-C. On a terminal each result replaces the previous one; elsewhere they follow
each other, tables and CSV below a line that begins with -- and has the time. If the server is unreachable or busy, this is
reported, and the next round retries; a refusal ends the command.

While the server is unreachable or answers with status 429 or 503, a query without --watch is retried for the time of --retry.` + aboutKeys,
		examples: []usageExample{
			{"What is in error now:", "belfry sql \"SELECT resource, name, status FROM objectstatus WHERE status IN ('3','-')\""},
			{"The last hour of a view as CSV:", "belfry sql --span 1h --rows 999 \"SELECT timestamp, i1 FROM objectdata WHERE view='a'\" > a.csv"},
			{"All lines of a day, for another program:", "belfry sql --all --format ndjson --from 2026-03-01 --to 2026-03-02 \"SELECT * FROM syslog\""},
			{"Keep an eye on the newest events:", "belfry sql --watch 5s --rows 20 \"SELECT timestamp, status, object, info FROM events\""},
			{"A long query from a file, for another program:", "belfry sql --format ndjson - < query.sql"},
			{"Show the plan of a query:", "belfry sql --explain --span 7d \"SELECT * FROM events WHERE resource='web01'\""},
		},
	},
	"explain": {
		description: `Gets from GET /api/explain why an item has its status, and prints the reason in a sentence, followed by the details: for a
view or resource the path down to the object that determines it, with others that are as bad; for an object its indicators,
their last values and how far each threshold is met. --json prints the whole response.

Items are looked up among those of the kind first, then among the others. If several resources have an object of that
name, select one with --resname.` + aboutKeys,
		examples: []usageExample{
			{"Why is everything red:", "belfry explain view MAIN"},
			{"One object of many of that name:", "belfry explain object cpu --resname web01"},
			{"For another program:", "belfry explain --json resource web01"},
		},
	},
	"ack": {
		description: `Acknowledges errors. An acknowledgment ends when the item recovers: at once, or with --sticky after it has recovered for
longer than that. With --until it ends at that time at the latest, with --until-worse as soon as the
item gets worse. On a view or resource it covers every object in error inside.` + aboutItems + aboutKeys,
		items: true,
		examples: []usageExample{
			{"Acknowledge two objects of a resource:", "belfry ack --resname web01 -m \"disk is ordered\" disk1 disk2"},
			{"All that is wrong in a view, until the evening:", "belfry ack --kind views --until 2026-03-28T18:00 Site"},
		},
	},
	"note": {
		description: `Sets a note on items, whatever their status, or removes it.` + aboutItems + aboutKeys,
		items:       true,
		examples: []usageExample{
			{"Note where something is:", "belfry note --kind resources -m \"rack 4\" web01"},
			{"Remove the note:", "belfry note --kind resources --remove web01"},
		},
	},
	"unmanage": {
		description: `Takes items out of management: they show Unknown, do not count in the views around them, and write no alarms. The content
of a view or resource follows it. With --from or --to they are unmanaged only between these times, which is called a window, and
with --rrule the window recurs. A new window replaces the previous one. To have several, give each a name with --window.` + aboutItems + aboutKeys,
		items: true,
		examples: []usageExample{
			{"A resource, from now on:", "belfry unmanage --kind resources --note \"new power supply\" web01"},
			{"Maintenance of a view tonight:", "belfry unmanage --kind views --from 2030-03-30T22:00 --to 2030-03-31T04:00 Site"},
			{"Every Sunday at the same local time:", "belfry unmanage --from 2030-03-31T02:00 --to 2030-03-31T05:00 --rrule FREQ=WEEKLY batch"},
			{"Another window beside that one:", "belfry unmanage --window \"new disk\" --from 2030-04-01T08:00 --to 2030-04-01T09:00 batch"},
			{"No alarms while it is switched off:", "belfry unmanage --mode while-unavailable printer"},
		},
	},
	"manage": {
		description: `Manages items again and cancels their windows, or with --window the one of that name. Items inside them that were unmanaged separately stay unmanaged. So does an item
in an unmanaged view, which the output says. With --from or --to the item is managed only during that time.` + aboutItems + aboutKeys,
		items: true,
		examples: []usageExample{
			{"A resource:", "belfry manage --kind resources web01"},
			{"Two objects, and remove the note:", "belfry manage --note \"\" --resname web01 disk1 disk2"},
			{"Cancel one window of several:", "belfry manage --kind resources --window backup web01"},
		},
	},
	"windows": {
		description: `Lists the maintenance windows that are open or planned, of all items that the key may see, in the order in which the items were
created: when each is open next, its recurrence rule, its time zone, and who requested it.` + aboutKeys,
		examples: []usageExample{
			{"All windows:", "belfry windows"},
			{"Those that are open, for another program:", "belfry windows --json | jq 'select(.open)'"},
		},
	},
	"audit": {
		description: `Lists the audit trail of a customer, the newest rows first: who changed what, from where, and what was before and after. The command
works with the folder of a service that is running on this machine, and needs no key. The flags are conditions, and all of them must
hold. A table shows the most important fields; the other forms have all of them.`,
		examples: []usageExample{
			{"The last day:", "belfry audit --from NOW-1DAY"},
			{"All that was ever removed, for a spreadsheet:", "belfry audit --action removed --rows 0 --format csv > removed.csv"},
			{"What a user did with keys, for another program:", "belfry audit --user ada --kind key --format ndjson"},
		},
	},
	"completion": {
		description: `Prints a script with which a shell completes commands, flags and values. With BELFRY_KEY or BELFRY_KEY_FILE set, it also
completes names of packages, which it requests from the server.`,
		examples: []usageExample{
			{"For bash, in ~/.bashrc:", "source <(belfry completion bash)"},
			{"For zsh, in ~/.zshrc after compinit:", "source <(belfry completion zsh)"},
			{"For fish, once:", "belfry completion fish > ~/.config/fish/completions/belfry.fish"},
		},
	},
	"manual": {
		description: `Prints the manual page of a command as text, or with --roff for man.`,
		examples: []usageExample{
			{"Read a page:", "belfry manual key create"},
			{"Read it with man:", "belfry manual send --roff | man -l -"},
			{"Install all of them:", "belfry manual --into /usr/local/share/man/man1"},
		},
	},
	"version": {
		description: `Prints the version, the commit and its date, the version of Go it was built with, and the platform. A program built outside of a git checkout has no commit.`,
		examples:    []usageExample{{"Print it:", "belfry version"}},
	},
}
