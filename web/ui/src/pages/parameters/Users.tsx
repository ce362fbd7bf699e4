// Users: people who log in, what each may do, and to which views they are limited.
import { Button, Group, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type User, users } from "../../api";
import { Empty, Failure, Page, Waiting } from "../../parts/Page";
import { Age, Time } from "../../parts/Time";
import { useMay, usePerson } from "../../session";
import { Confirm } from "./Confirm";
import { type Column, Find, Rows, useFound } from "./Rows";
import { UserDialog } from "./UserDialog";

export default function UsersPage() {
  const client = useQueryClient();
  const list = useQuery({ queryKey: ["users"], queryFn: users.all });
  const [dialog, setDialog] = useState<User | "new">();
  const [removing, setRemoving] = useState<User>();
  const found = useFound();
  const person = usePerson();
  const may = useMay();
  const again = () => client.invalidateQueries({ queryKey: ["users"] });
  const shown = list.data?.filter((u) => found.has(u.name, u.role, ...(u.views ?? [])));
  // Oneself, unless acting in another customer, where a user of the same name is another user.
  const own = (u: User) => u.name === person.user && !person.home;
  const touchable = (u: User) => may.instance || !u.instance;
  return (
    <Page
      title="Users"
      tools={
        <>
          {!!list.data && list.data.length > 8 && <Find label="Find a user" />}
          <Button leftSection={<IconPlus size={16} />} onClick={() => setDialog("new")}>
            Create a user
          </Button>
        </>
      }
    >
      <Text c="dimmed" size="sm" maw={720}>
        Each person logs in with their own user. A viewer only reads, an operator also acknowledges, manages and
        provisions, an administrator can also use these pages. Changing a user's role, password or views logs the user
        out.
      </Text>
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {!!shown?.length && (
        <Rows
          label="Users"
          columns={columns(own, touchable, setDialog, setRemoving)}
          rows={shown}
          keyOf={(u) => u.name}
        />
      )}
      {shown?.length === 0 && <Empty title="No user has this name" />}
      {dialog && (
        <UserDialog
          user={dialog === "new" ? undefined : dialog}
          own={dialog !== "new" && own(dialog)}
          onClose={() => setDialog(undefined)}
          onDone={again}
        />
      )}
      {removing && (
        <Confirm
          title="Remove this user?"
          action="Remove the user"
          onClose={() => setRemoving(undefined)}
          onDo={async () => {
            await users.remove(removing.name);
            await again();
          }}
        >
          <Text className="name">
            <b>{removing.name}</b>, {removing.role}.
          </Text>
          <Text size="sm" mt="xs">
            All sessions of this user end at once. What the user did stays in the events.
          </Text>
        </Confirm>
      )}
    </Page>
  );
}

function columns(
  own: (u: User) => boolean,
  touchable: (u: User) => boolean,
  onChange: (u: User) => void,
  onRemove: (u: User) => void,
): Column<User>[] {
  return [
    {
      label: "User",
      cell: (u) => (
        <>
          <b className="name">{u.name}</b>
          {own(u) && " (you)"}
        </>
      ),
    },
    { label: "Role", cell: (u) => u.role },
    { label: "Limited to", cell: (u) => <span className="name">{u.views?.join(", ") || "sees all"}</span> },
    { label: "Logs in with", cell: (u) => (u.oidc ? "the provider" : "a password") },
    { label: "Created", cell: (u) => <Time at={u.created} /> },
    {
      label: "Last login",
      cell: (u) =>
        u.lastlogin ? (
          <>
            <Time at={u.lastlogin} />
            <Text size="xs" c="dimmed">
              <Age at={u.lastlogin} /> ago
            </Text>
          </>
        ) : (
          "never"
        ),
    },
    {
      label: "Actions",
      tools: true,
      cell: (u) =>
        touchable(u) && (
          <Group gap="xs" wrap="nowrap">
            <Button size="compact-sm" variant="default" onClick={() => onChange(u)} aria-label={`Change ${u.name}`}>
              Change
            </Button>
            {!own(u) && (
              <Button size="compact-sm" variant="default" onClick={() => onRemove(u)} aria-label={`Remove ${u.name}`}>
                Remove
              </Button>
            )}
          </Group>
        ),
    },
  ];
}
