"""How Django renders our forms: its own templates first looked for among ours (templates/forms/)."""

from django.forms.renderers import TemplatesSetting


class HubFormRenderer(TemplatesSetting):
    """Fields are rendered by templates/forms/field.html, with label, help and errors tied to the input."""

    field_template_name = "forms/field.html"
