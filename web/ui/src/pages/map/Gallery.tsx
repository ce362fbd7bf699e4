// The pictures of the service: choose one, or upload another.
import { Button, FileButton, Group, SimpleGrid, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { pictures } from "../../api";
import { Failure } from "../../parts/Page";
import { useMay } from "../../session";
import { Shown } from "./Elements";

export function Gallery({ chosen, onChoose }: { chosen: string; onChoose: (name: string) => void }) {
  const may = useMay();
  const client = useQueryClient();
  const list = useQuery({ queryKey: ["pictures"], queryFn: () => pictures.list({ limit: 200 }), retry: false });
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<unknown>();
  const upload = async (file: File | null) => {
    if (!file) return;
    setBusy(true);
    setWrong(undefined);
    try {
      await pictures.put(file.name, file);
      await client.invalidateQueries({ queryKey: ["pictures"] });
      onChoose(file.name);
    } catch (e) {
      setWrong(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack gap="xs">
      <Group align="flex-end" wrap="nowrap">
        <TextInput
          label="Picture"
          description="Its name, as it was uploaded"
          required
          style={{ flex: 1 }}
          value={chosen}
          onChange={(e) => onChoose(e.currentTarget.value)}
        />
        {may.administer && (
          <FileButton onChange={upload} accept="image/png,image/jpeg,image/gif,image/webp,image/svg+xml">
            {(props) => (
              <Button variant="default" loading={busy} leftSection={<IconUpload size={16} />} {...props}>
                Upload
              </Button>
            )}
          </FileButton>
        )}
      </Group>
      {wrong !== undefined && <Failure error={wrong} />}
      {list.error ? (
        <Failure error={list.error} retry={() => list.refetch()} />
      ) : (
        <SimpleGrid cols={3} spacing="xs" mah={260} style={{ overflow: "auto" }}>
          {list.data?.pictures.map((p) => (
            <UnstyledButton
              key={p.name}
              className="map-thumb card"
              aria-pressed={p.name === chosen}
              onClick={() => onChoose(p.name)}
            >
              <span className="map-thumb-picture">
                <Shown name={p.name} alt="" />
              </span>
              <Text size="xs" className="cut" title={p.name}>
                {p.name}
              </Text>
              <Text size="xs" c="dimmed" className="number">
                {p.width ? `${p.width} × ${p.height}` : p.type}
              </Text>
            </UnstyledButton>
          ))}
        </SimpleGrid>
      )}
      {list.data?.pictures.length === 0 && (
        <Text size="sm" c="dimmed">
          {may.administer
            ? "No picture has been uploaded yet: PNG, JPEG, GIF, WebP or SVG."
            : "No picture has been uploaded yet; an administrator can."}
        </Text>
      )}
    </Stack>
  );
}
