// Customers: those who share the service and see nothing of each other. For administrators of the instance.
import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Customer, customers, session } from "../../api";
import { Empty, Failure, Page, Waiting } from "../../parts/Page";
import { Time } from "../../parts/Time";
import { usePerson } from "../../session";
import { type Column, Find, Rows, useFound } from "./Rows";
import { OncePassword, SecretModal } from "./SecretModal";

export default function CustomersPage() {
  const client = useQueryClient();
  const person = usePerson();
  const list = useQuery({ queryKey: ["customers"], queryFn: customers.all });
  const [making, setMaking] = useState(false);
  const [removing, setRemoving] = useState<Customer>();
  const [granting, setGranting] = useState<Customer>();
  const [error, setError] = useState<unknown>();
  const found = useFound();
  const again = () => client.invalidateQueries({ queryKey: ["customers"] });
  const shown = list.data?.filter((c) => found.has(c.name));
  const enter = async (c: Customer) => {
    setError(undefined);
    try {
      await session.actIn(c.name);
      location.assign("/ui/"); // nothing of the other customer stays in the page
    } catch (e) {
      setError(e);
    }
  };
  return (
    <Page
      title="Customers"
      tools={
        <>
          {!!list.data && list.data.length > 8 && <Find label="Find a customer" />}
          <Button leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
            Create a customer
          </Button>
        </>
      }
    >
      <Text c="dimmed" size="sm" maw={720}>
        Customers share the service but cannot see each other's data. You can act in any of them; this is recorded in
        their events.
      </Text>
      {error !== undefined && <Failure error={error} />}
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {!!shown?.length && (
        <Rows
          label="Customers"
          columns={columns(person.customer, person.home, enter, setGranting, setRemoving)}
          rows={shown}
          keyOf={(c) => c.name}
        />
      )}
      {shown?.length === 0 && <Empty title="No customer has this name" />}
      {making && <Create onClose={() => setMaking(false)} onMade={again} />}
      {granting && <Grant customer={granting} onClose={() => setGranting(undefined)} onDone={again} />}
      {removing && <Remove customer={removing} onClose={() => setRemoving(undefined)} onDone={again} />}
    </Page>
  );
}

/** The customer that may listen on every port. */
const unlimited = "default";

function listens(c: Customer) {
  if (c.name === unlimited) return "every port";
  return c.listen?.join(", ") || "no port";
}

const enterText = (home: boolean) => (home ? "Back to it" : "Act in it");

function columns(
  here: string,
  home: string | undefined,
  onEnter: (c: Customer) => void,
  onGrant: (c: Customer) => void,
  onRemove: (c: Customer) => void,
): Column<Customer>[] {
  return [
    {
      label: "Customer",
      cell: (c) => (
        <>
          <b className="name">{c.name}</b>
          {c.name === here && " (you are here)"}
          {c.name === home && " (yours)"}
        </>
      ),
    },
    { label: "Created", cell: (c) => <Time at={c.created} /> },
    { label: "May listen on", cell: (c) => listens(c) },
    {
      label: "Actions",
      tools: true,
      cell: (c) => (
        <Group gap="xs">
          {c.name !== unlimited && (
            <Button size="compact-sm" variant="default" onClick={() => onGrant(c)} aria-label={`Ports of ${c.name}`}>
              Ports
            </Button>
          )}
          {c.name !== here && (
            <>
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => onEnter(c)}
                aria-label={`${enterText(c.name === home)}: ${c.name}`}
              >
                {enterText(c.name === home)}
              </Button>
              <Button size="compact-sm" variant="default" onClick={() => onRemove(c)} aria-label={`Remove ${c.name}`}>
                Remove
              </Button>
            </>
          )}
        </Group>
      ),
    },
  ];
}

function Create({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [made, setMade] = useState<{ name: string; password: string }>();
  const create = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const c = await customers.create(name);
      onMade();
      if (c.password) setMade({ name: `${c.user} of ${c.name}`, password: c.password });
      else onClose();
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <SecretModal
      title={made ? "The password of its administrator" : "Create a customer"}
      shown={!!made}
      onClose={onClose}
    >
      {made ? (
        <OncePassword {...made} onClose={onClose} />
      ) : (
        <form onSubmit={create}>
          <Stack>
            <TextInput
              label="Name"
              description="The customer gets an administrator called admin, whose password is then shown."
              value={name}
              onChange={(e) => setName(e.currentTarget.value)}
              required
              data-autofocus
              autoComplete="off"
            />
            {error !== undefined && <Failure error={error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={busy}>
                Create
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </SecretModal>
  );
}

/** Remove asks for the name: everything of the customer is gone afterwards, for good. */
function Remove({ customer, onClose, onDone }: { customer: Customer; onClose: () => void; onDone: () => void }) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const remove = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await customers.remove(customer.name);
      onDone();
      onClose();
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title="Remove this customer with all its data?"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={remove}>
        <Stack>
          <Text size="sm" className="name">
            Users, keys, resources, views, objects and all that was ever stored for <b>{customer.name}</b> are removed
            afterwards. This cannot be undone.
          </Text>
          <TextInput
            label="Repeat the name of the customer"
            value={typed}
            onChange={(e) => setTyped(e.currentTarget.value)}
            data-autofocus
            autoComplete="off"
          />
          {error !== undefined && <Failure error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color="red.9" loading={busy} disabled={typed !== customer.name}>
              Remove permanently
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Grant changes on which ports the receivers of a customer may listen. */
function Grant({ customer, onClose, onDone }: { customer: Customer; onClose: () => void; onDone: () => void }) {
  const [text, setText] = useState((customer.listen ?? []).join("\n"));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await customers.change(customer.name, { listen: text.split(/[\s,]+/).filter((line) => line !== "") });
      onDone();
      onClose();
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={`Ports of ${customer.name}`} closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={save}>
        <Stack>
          <Textarea
            label="May listen on"
            description="One per line: an address and a port, or a range of ports, such as 0.0.0.0:5514 or 192.0.2.1:6000-6010. A port belongs to one customer. Receivers that listen elsewhere are switched off."
            value={text}
            onChange={(e) => setText(e.currentTarget.value)}
            autosize
            minRows={3}
            data-autofocus
            autoComplete="off"
          />
          {error !== undefined && <Failure error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={busy}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
