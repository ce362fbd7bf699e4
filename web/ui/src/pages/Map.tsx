// The map: one view as it is drawn, or as a list. What is in it can be entered; whoever may write can edit the drawing.
import { useSearchParams } from "wouter";
import { MapOf } from "./map/MapOf";

export default function MapPage() {
  const [params] = useSearchParams();
  const view = params.get("view") || "MAIN";
  const resource = params.get("resource") || undefined;
  // Another view is another page: nothing that was chosen or edited goes along.
  return <MapOf key={`${resource ?? ""}/${view}`} name={view} resource={resource} />;
}
