package main

// manual is what is written by hand about a command; the rest of its page comes from the flags.
type manual struct {
	description string // paragraphs with a blank line between them
	rows        bool   // it sends rows, of which some may be rejected
	items       bool   // it does something with items, and may fail with some of them
	examples    []usageExample
}

type usageExample struct{ what, command string }

const aboutKeys = `

The API key is best kept in a file that only you can read, named with --key-file or BELFRY_KEY_FILE. A key that is
typed on the command line is seen by everybody who can list the processes of the machine. The key is never printed.`

const aboutParts = `

A file is cut where rows end, and goes out in requests of --rows rows and at most 8 MiB, one after the other. Another
--rows makes other requests, so do not change it between a run that was interrupted and the next.` + aboutResume

const aboutResume = `

While the
server cannot be reached, or says with status 429 or 503 that it is busy, the same request is tried again for the time of
--retry. Every other refusal ends the command.

Every request carries an Idempotency-Key that is computed from the file, the part and what is asked. So a command that
was interrupted can simply be given again, with the same options, within 24 hours: the server answers what it has done
already from memory and does nothing twice. For the same reason a file that is sent again on purpose has no effect unless
--fresh is given. What comes from standard input or a pipe is protected in the same way within one run alone.`

const aboutRejects = `

Rejected rows do not hinder the others. Each is told on standard error with its line in the file, the first twenty of them, and
all are written as they were, below the same header, to FILE.rejected.csv: correct them there and send that file. When
nothing is rejected, a file of that name from an earlier run is removed. With --atomic and --dryrun, nothing is taken
from a file with wrong rows, so that none is written either.`

const aboutFiles = `

Files packed with gzip or zstd are recognised and unpacked. Columns, quoting and all else about the content are the
server's to judge.`

const aboutItems = `

Items are looked for by name among those of --kind, and then among the others. A line tells what became of each; what could
not be done is told on standard error.`

// manuals has a text for every command, by its path.
var manuals = map[string]manual{
	"": {
		description: `Belfry is a monitoring service with a REST API. This program is the service itself (serve), the tools for its keys, users and
customers, which work on the folder of the service, and a client for any server (send, provision, remove, export, sql,
explain, ack, note, unmanage, manage).

Each command explains itself with --help in short and with "belfry manual COMMAND" at length.`,
		rows: true,
		examples: []usageExample{
			{"Serve on this machine from the folder belfry-data:", "belfry serve"},
			{"Make a key and send a file with it:", "belfry key create --name loader --level readwrite > loader.key\nbelfry send --key-file loader.key rows.csv"},
			{"Read the page of a command:", "belfry manual send"},
		},
	},
	"serve": {
		description: `Runs the service until SIGTERM or SIGINT, which it answers by finishing what it has accepted. SIGHUP reads the
configuration again. The first start makes the customer "default" and the user "admin", and prints that user's password once.

With --demo it fills that customer with sample data: sites on a map, about three hundred objects, the last day of
their values, and from then on new ones every few seconds, with incidents and operators who deal with them. A folder that holds
anything else is refused; one that was filled before goes on, as long as --demo is given.`,
		examples: []usageExample{
			{"Look around in sample data:", "belfry serve --demo --data demo-data"},
			{"Serve others, with TLS:", "belfry serve --data /var/lib/belfry --listen :8443 --tls-cert cert.pem --tls-key key.pem"},
		},
	},
	"key": {
		description: `Keys let programs use the API. These commands work on the folder of a service on this machine, whether it runs or not.`,
		examples:    []usageExample{{"List the keys:", "belfry key list"}},
	},
	"key create": {
		description: `Makes a key and prints it, alone on its line. The service keeps no more than its digest, so it cannot be shown again.`,
		examples: []usageExample{
			{"A key for three months, straight into a file:", "belfry key create --name loader --level readwrite --expires 90d > loader.key"},
			{"A key that sends from one network and reads nothing:", "belfry key create --name agents --level readwrite --only send --addresses 10.0.0.0/8"},
		},
	},
	"key list": {
		description: `Prints name, level, last characters, creation, expiry, last use, creator and restrictions of every key of a customer. Old secrets
that are still accepted after a rotation have a line of their own.`,
		examples: []usageExample{{"The keys of another customer:", "belfry key list --customer acme"}},
	},
	"key rotate": {
		description: `Gives a key another secret and prints it, alone on its line. Level and restrictions stay. The old secret is accepted until the overlap ends,
and belfry key list shows when it was last used.`,
		examples: []usageExample{{"Another secret; the old one is accepted for a week:", "belfry key rotate --name loader --overlap 7d > loader.key"}},
	},
	"key revoke": {
		description: `Takes a key out of use. A running service refuses it from that moment on.`,
		examples:    []usageExample{{"Revoke a key:", "belfry key revoke --name loader"}},
	},
	"user": {
		description: `Users log in to the web interface. These commands work on the folder of a service on this machine, whether it runs or not.`,
		examples:    []usageExample{{"List the users:", "belfry user list"}},
	},
	"user create": {
		description: `Makes a user and prints a random password, alone on its line. A password in the variable BELFRY_USER_PASSWORD is used
instead, and not printed.`,
		examples: []usageExample{{"A user who may look and not touch:", "belfry user create --name ada --role viewer"}},
	},
	"user list": {
		description: `Prints the users of a customer, without anything secret.`,
		examples:    []usageExample{{"The users of another customer:", "belfry user list --customer acme"}},
	},
	"user change": {
		description: `Limits a user to some views or resources of the customer and what stands in them, or, with --all-views, to nothing any
more. Every session of the user ends.`,
		examples: []usageExample{{"A user who sees two views and nothing else:", "belfry user change --name ada --views Paris --views \"Data centre\""}},
	},
	"user password": {
		description: `Gives a user a new random password and prints it, alone on its line; every session of the user ends. A password in the
variable BELFRY_USER_PASSWORD is used instead, and not printed.`,
		examples: []usageExample{{"Give a user a new password:", "belfry user password --name ada"}},
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
		description: `Makes a customer. Keys for it are made with "belfry key create --customer".`,
		examples:    []usageExample{{"Make a customer:", "belfry customer create --name acme"}},
	},
	"customer list": {
		description: `Prints name and creation of every customer, and what it may listen on.`,
		examples:    []usageExample{{"List the customers:", "belfry customer list"}},
	},
	"customer grant": {
		description: `Lets receivers of a customer listen on an address and a port, or a range of ports, for UDP and TCP. 0.0.0.0, [::] or no address
stands for every address of the machine. A port belongs to one customer, so grants of two customers do not overlap. The
customer default may listen everywhere without a grant.`,
		examples: []usageExample{{"Seven ports on every address:", "belfry customer grant --name acme --listen 0.0.0.0:5514-5520"}},
	},
	"customer revoke": {
		description: `Takes back what was granted, as "belfry customer list" shows it. Receivers that listen there are switched off, and work
again when it is granted again.`,
		examples: []usageExample{{"Take a grant back:", "belfry customer revoke --name acme --listen 0.0.0.0:5514-5520"}},
	},
	"clock": {
		description: `The service deletes nothing while its clock is more than a day away from the time that it expects. This works on the
folder of a service on this machine, whether it runs or not.`,
		examples: []usageExample{{"Confirm the clock:", "belfry clock confirm"}},
	},
	"clock confirm": {
		description: `Says that the clock of this machine is right, and ends the fault "clock". Rows whose time to be kept is over by this
clock are removed then, so look at the clock before.`,
		examples: []usageExample{{"Look at the clock, then confirm it:", "belfry clock confirm --data /var/lib/belfry"}},
	},
	"fault": {
		description: `Some faults stay until an administrator has taken note of them. This works on the folder of a service on this
machine, whether it runs or not.`,
		examples: []usageExample{{"Confirm that rows are lost:", "belfry fault confirm journal_loss"}},
	},
	"fault confirm": {
		description: `Ends the fault "journal_loss": queries over the time in which rows may be missing are answered again, without those rows.
With "clock" it does what "belfry clock confirm" does. Other faults end when their cause does.`,
		examples: []usageExample{{"Confirm that rows are lost:", "belfry fault confirm journal_loss --data /var/lib/belfry"}},
	},
	"verify": {
		description: `Reads every file in the folder of a stopped service, rows, metadata and journal, to its last block, and lists what is damaged or
missing and what to do about it. It moves and deletes nothing. --json prints an object with the number of files read and the list
of problems, each with collection, day, file, problem and remedy. Losses in the journal that were confirmed are no problems; they are
listed under "known" as long as their segment is there.

Exit status: 0 when nothing is wrong, 4 when there are problems, 1 when the folder could not be read, as while a service runs
from it. A running service tells by itself what it has found: under "faults" in GET /api/health, and as events.`,
		examples: []usageExample{
			{"Look at a folder before the service is started:", "belfry verify --data /var/lib/belfry"},
			{"For a script:", "belfry verify --json --data /var/lib/belfry > problems.json"},
		},
	},
	"check": {
		description: `Reads the configuration as serve would, says what is wrong with it, or prints it with every default filled in.`,
		examples:    []usageExample{{"Check a file before the service reads it:", "belfry check --config belfry.yaml"}},
	},
	"send": {
		description: `Sends rows of indicator values, log lines and views to POST /api/send and says what became of them: one line with the
totals on standard output, problems on standard error.` + aboutParts + aboutRejects + aboutFiles + aboutKeys,
		rows: true,
		examples: []usageExample{
			{"Send a file:", "belfry send --key-file loader.key rows.csv"},
			{"Correct what was rejected, and send that:", "belfry send --key-file loader.key rows.csv.rejected.csv"},
			{"See what would happen:", "belfry send --dryrun rows.csv.gz"},
			{"Send what another program writes to a server elsewhere:", "collect-rows | belfry send --url https://belfry.example.org --ca ca.pem -"},
		},
	},
	"provision": {
		description: `Creates the items of a package that a file describes, or changes them where they exist: a row for each, a column for each
question of the package.

With --dir, a folder made by "belfry export --dir" is sent: the classes and pictures that its file files.csv lists, then the
files of rows in the order of their names. A file that is rejected in part does not keep the next from being sent. With --dryrun
each file of rows is checked by itself, against what the server has now.

Classes and pictures that the server has already are not sent. To change others, the key must have the level
readwritedelete. If one is not taken, because of the key or for another reason, it is named and no rows are sent: objects would
get a class that is made up from their first values. Nor is anything sent if the rows hold ***, which stands for a
secret, where the server has none.` + aboutParts + aboutRejects + aboutFiles + aboutKeys,
		rows: true,
		examples: []usageExample{
			{"Create resources:", "belfry provision network-ping hosts.csv"},
			{"Everything or nothing:", "belfry provision --atomic view views.csv"},
			{"Rebuild what was exported, on another server:", "belfry provision --url https://new.example.org --dir inventory"},
		},
	},
	"remove": {
		description: `Removes the items of a package that the rows of a file name. A row has a name, or a name and the view it must stand in,
or * and a view for everything of the package directly in that view. The file may have the columns name and view only; cut others
from an export first. Views that hold others are removed with --recursive
only. What is removed keeps its history. It needs a key of the level readwritedelete.

There is no going back: look with --dryrun first.

The file goes out in requests of a hundred rows, one after the other.` + aboutResume + aboutRejects + aboutKeys,
		rows: true,
		examples: []usageExample{
			{"See what would go:", "belfry remove --dryrun network-ping old-hosts.csv"},
			{"Remove views with all that is in them:", "belfry remove --recursive view old-views.csv"},
		},
	},
	"export": {
		description: `Writes the items of a package as CSV, as "belfry provision" takes it. Without a package, the folder of --dir gets a file for
each package that has items: 10-view.csv has the views of the customer, then come resources (20), views inside
resources (30), objects (40) and graphical elements (50). The customer's own classes and the pictures are in the folders
classes and pictures; files.csv says which file has which name. "belfry provision --dir" makes it all again in one pass, also on
an empty server. What is gone from the server is removed from the folder; files that no export has written stay.

Links and shortcuts of which an end has been removed are left out, and how many they are is told on standard error. With
--broken they are written instead of the others, as "belfry remove" takes them.

Secret answers are exported as ***. Sent back to the same server, that leaves them as they are; for another server they
have to be filled in.` + aboutKeys,
		examples: []usageExample{
			{"One package into a file:", "belfry export network-ping -o hosts.csv"},
			{"Everything, to be kept under version control:", "belfry export --dir inventory"},
			{"Remove the links of which an end is gone:", "belfry export link --broken -o lost.csv\nbelfry remove link lost.csv"},
			{"Which packages are there:", "belfry export --list"},
		},
	},
	"sql": {
		description: `Asks a server with POST /api/sql and shows the answer. On a terminal it is a table, cut to the width of the terminal, with
numbers to the right and the status in colour, unless NO_COLOR is set. Written to a file or a pipe it is CSV. --format asks
for another form; json and ndjson are what the server sends, unchanged.

Without --rows or LIMIT the first ten rows are shown; when there are more, that is told. A collection of the past needs a
time span (--span, --from, --to, or a condition on timestamp) or a number of rows.

With --all every row is written, as CSV unless --format says json or ndjson. They are asked for in pages, and no row is missing or
there twice, whatever comes in meanwhile. A span without an end ends when the command begins. An answer that cannot be had
in pages, as groups or another order than by time, fails when it has more rows than one page.

A query over a day whose file is damaged or missing is refused. With --partial it is answered without that day, and the days
that are missing are named on standard error.

When the server cannot make sense of the query, the line that is wrong is shown with a mark below the place.

With --watch the query is asked again and again, until Ctrl-C. On a terminal each answer takes the place of the one
before; elsewhere they follow each other, tables and CSV below a line that begins with -- and has the time. While the server
is away or busy, that is told, and the next round tries again; a refusal ends the command.

While the server cannot be reached, or says with status 429 or 503 that it is busy, a query without --watch is tried
again for the time of --retry.` + aboutKeys,
		examples: []usageExample{
			{"What is in error now:", "belfry sql \"SELECT resource, name, status FROM objectstatus WHERE status IN ('3','-')\""},
			{"The last hour of a view as CSV:", "belfry sql --span 1h --rows 999 \"SELECT timestamp, i1 FROM objectdata WHERE view='a'\" > a.csv"},
			{"All lines of a day, for another program:", "belfry sql --all --format ndjson --from 2026-03-01 --to 2026-03-02 \"SELECT * FROM syslog\""},
			{"Keep an eye on the newest events:", "belfry sql --watch 5s --rows 20 \"SELECT timestamp, status, object, info FROM events\""},
			{"A long query from a file, for another program:", "belfry sql --format ndjson - < query.sql"},
			{"How a query would be answered:", "belfry sql --explain --span 7d \"SELECT * FROM events WHERE resource='web01'\""},
		},
	},
	"explain": {
		description: `Asks a server with GET /api/explain why an item has its status, and prints the reason in a sentence. Below it stands
what that rests on: for a view or resource the way down to the object that decides, with others that are as bad; for an object
its indicators, their last values and how far each threshold is met. --json prints the whole answer.

Items are looked for among those of the kind first, then among the others. Where several resources have an object of that
name, --resname says which one is meant.` + aboutKeys,
		examples: []usageExample{
			{"Why is everything red:", "belfry explain view MAIN"},
			{"One object of many of that name:", "belfry explain object cpu --resname web01"},
			{"For another program:", "belfry explain --json resource web01"},
		},
	},
	"ack": {
		description: `Says that somebody knows of an error. The acknowledgment goes when the item leaves its error: at once, or with --sticky
when it stays away longer than that. With --until it ends at that time at the latest, with --until-worse as soon as the
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
			{"Say where something is:", "belfry note --kind resources -m \"rack 4\" web01"},
			{"Remove the note:", "belfry note --kind resources --remove web01"},
		},
	},
	"unmanage": {
		description: `Takes items out of management: they show Unknown, count for nothing in the views around them, and write no alarms. What
stands in a view or resource follows it. With --from or --to they are unmanaged only between these times, which is called a window, and
with --rrule the window comes again and again. A new window replaces the one before. To have several, give each a name with --window.` + aboutItems + aboutKeys,
		items: true,
		examples: []usageExample{
			{"A resource, from now on:", "belfry unmanage --kind resources --note \"new power supply\" web01"},
			{"Maintenance of a view tonight:", "belfry unmanage --kind views --from 2030-03-30T22:00 --to 2030-03-31T04:00 Site"},
			{"Every Sunday at the same local time:", "belfry unmanage --from 2030-03-31T02:00 --to 2030-03-31T05:00 --rrule FREQ=WEEKLY batch"},
			{"Another window beside that one:", "belfry unmanage --window \"new disk\" --from 2030-04-01T08:00 --to 2030-04-01T09:00 batch"},
			{"Say nothing while it is switched off:", "belfry unmanage --mode while-unavailable printer"},
		},
	},
	"manage": {
		description: `Manages items again and cancels their windows, or with --window the one of that name. What was unmanaged inside them by itself stays so; and an item in a view that
is unmanaged stays so, too, which is told. With --from or --to the item is managed for that time alone.` + aboutItems + aboutKeys,
		items: true,
		examples: []usageExample{
			{"A resource:", "belfry manage --kind resources web01"},
			{"Two objects, and forget why they were not:", "belfry manage --note \"\" --resname web01 disk1 disk2"},
			{"Cancel one window of several:", "belfry manage --kind resources --window backup web01"},
		},
	},
	"windows": {
		description: `Lists the maintenance windows that are open or planned, of all items that the key may see, in the order in which the items were
created: when each is open next, the rule by which it comes again, the zone of its times, and who asked for it.` + aboutKeys,
		examples: []usageExample{
			{"All windows:", "belfry windows"},
			{"Those that are open, for another program:", "belfry windows --json | jq 'select(.open)'"},
		},
	},
	"audit": {
		description: `Lists the audit trail of a customer, the newest rows first: who changed what, from where, and what was before and after. The command
names the folder of a service that runs on this machine, and needs no key. The flags are conditions, and all of them must
hold. A table shows the most important fields; the other forms have all of them.`,
		examples: []usageExample{
			{"The last day:", "belfry audit --from NOW-1DAY"},
			{"All that was ever removed, for a spreadsheet:", "belfry audit --action removed --rows 0 --format csv > removed.csv"},
			{"What a user did with keys, for another program:", "belfry audit --user ada --kind key --format ndjson"},
		},
	},
	"completion": {
		description: `Prints a script that teaches a shell to complete commands, flags and values. With BELFRY_KEY or BELFRY_KEY_FILE set, names of
packages are completed too, by asking the server.`,
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
		description: `Prints the version, the commit and its date, the version of Go it was built with, and the platform. A program built outside of a git checkout does not know its commit.`,
		examples:    []usageExample{{"Print it:", "belfry version"}},
	},
}
