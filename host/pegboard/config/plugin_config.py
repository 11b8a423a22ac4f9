"""The pydantic base class of settings. `deferred_models` imports it when settings need pydantic."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationInfo

from pegboard.config.deferred_models import folder_of


class PluginConfig(BaseModel):
    """The base class for settings of a plugin or toolkit. Unknown keys are errors. Settings are immutable."""

    # type checkers reject `frozen` as a keyword of the class: subclasses would have to repeat it
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @staticmethod
    def folder_of(info: ValidationInfo) -> Path:
        """Return the base folder of relative paths in a field. For use in a field validator.

        The base is the folder of the configuration file. If the value comes from the environment or the command line,
        or if no file was read, the base is the working directory.
        """
        return folder_of(info)
