using Billing.Measuring;

namespace Billing.UnitTests.Measuring;

public sealed class MeasuredSoftwareTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-software-");

    [Fact]
    public void A_package_replaced_by_a_project_is_marked_as_a_stand_in()
    {
        var file = Write("""
            { "libraries": {
                "Billing.Backends/0.1.0": { "type": "project" }, "Marten/9.29.0": { "type": "project" }, "Npgsql/10.0.0": { "type": "package" },
                "Polly.Core/8.9.1": { "type": "package" } } }
            """);

        var packages = MeasuredSoftware.PackagesOf(file);

        Assert.Equal([new("Marten", "9.29.0 (a stand-in)"), new("Npgsql", "10.0.0")], packages);
    }

    [Fact]
    public void Runtime_settings_come_from_the_runtimeconfig_file_and_the_environment()
    {
        var file = Write("""
            { "runtimeOptions": { "tfm": "net10.0", "configProperties": {
                "System.GC.Server": false, "System.Runtime.TieredPGO": false, "System.Globalization.Invariant": true } } }
            """);

        var settings = MeasuredSoftware.SettingsOf(file);

        Assert.Equal("False", settings["System.GC.Server"]);
        Assert.Equal("False", settings["System.Runtime.TieredPGO"]);
        Assert.True(settings.ContainsKey("DOTNET_GCgen0size"));
        Assert.DoesNotContain("System.Globalization.Invariant", settings.Keys);
    }

    [Fact]
    public void Without_these_files_there_are_no_packages_and_no_settings_from_a_file()
    {
        Assert.Empty(MeasuredSoftware.PackagesOf(Path.Combine(_folder.FullName, "none.deps.json")));
        Assert.DoesNotContain("System.GC.Server", MeasuredSoftware.SettingsOf(Path.Combine(_folder.FullName, "none.json")).Keys);
    }

    [Fact]
    public void A_page_lists_stand_ins_if_there_are_any()
    {
        Assert.Contains(Facts.Of(On("9.29.0 (a stand-in)")), fact => fact.Name == "Stand-ins" && fact.Value.Contains("Marten", StringComparison.Ordinal));
        Assert.DoesNotContain(Facts.Of(On("9.29.0")), fact => fact.Name == "Stand-ins");
    }

    [Fact]
    public void Results_without_the_names_of_the_software_are_still_read() =>
        Assert.Equal(["Machine"], Facts.Of(new Machine("Linux", ".NET", 2, 4)).Select(fact => fact.Name));

    public void Dispose() => _folder.Delete(recursive: true);

    private static Machine On(string marten) => new("Linux", ".NET", 2, 4)
    {
        Software = new MeasuredSoftware("abc", new Dictionary<string, string> { ["Marten"] = marten }, "4.1.0", "15", new Dictionary<string, string>()),
    };

    private string Write(string json)
    {
        var file = Path.Combine(_folder.FullName, "file.json");
        File.WriteAllText(file, json);
        return file;
    }
}
